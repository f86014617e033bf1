// The tables of a profile of pprof: texts, functions, locations and mappings, and its samples as
// they are in the file.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jprof::profile {

// The numbers of fields in profile.proto of google/pprof.
namespace pprof_field {
enum Profile {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
};
enum ValueType { kType = 1, kUnit = 2 };
enum Sample { kLocationId = 1, kValue = 2, kLabel = 3 };
enum Label { kKey = 1, kText = 2, kNumber = 3 };
enum Mapping { kMappingId = 1, kMappingFile = 5 };
enum Location { kId = 1, kOfMapping = 2, kAddress = 3, kLine = 4 };
enum Line { kFunctionId = 1, kLineNumber = 2 };
enum Function { kOfId = 1, kName = 2, kSystemName = 3, kFile = 4 };
}  // namespace pprof_field

struct PprofValueType {
  uint64_t type = 0, unit = 0;  // in the table of texts
};
struct PprofLine {
  uint64_t function = 0, line = 0;
};
struct PprofLocation {
  uint64_t mapping = 0, address = 0;
  std::vector<PprofLine> lines;  // the innermost inlined one first
};
struct PprofFunction {
  uint64_t name = 0, system_name = 0, file = 0;
};

struct PprofTables {
  std::vector<std::string_view> strings, samples;
  std::vector<PprofValueType> types;
  PprofValueType period_type;
  uint64_t period = 0, time_ns = 0, duration_ns = 0;
  std::unordered_map<uint64_t, uint64_t> mappings;  // the text of the file
  std::unordered_map<uint64_t, PprofLocation> locations;
  std::unordered_map<uint64_t, PprofFunction> functions;

  // Reads the tables of a profile. Throws what protozero throws if it is damaged; `at` is then the
  // part that was being read.
  void Read(std::string_view bytes, std::string_view* at);
};

// Calls visit(tag, number) for each integer field of a message, and skips the others.
template <typename Visit>
void ForEachPprofNumber(protozero::pbf_reader reader, const Visit& visit) {
  while (reader.next()) {
    const auto tag = reader.tag();
    if (reader.wire_type() == protozero::pbf_wire_type::varint) {
      visit(tag, reader.get_uint64());
    } else {
      reader.skip();
    }
  }
}

}  // namespace jprof::profile
