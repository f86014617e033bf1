#include "profile/import/pprof_tables.h"

#include <utility>

namespace jprof::profile {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
namespace fields = pprof_field;

PprofValueType ReadValueType(const pbf_reader& message) {
  PprofValueType read;
  ForEachPprofNumber(message, [&](auto tag, uint64_t number) {
    if (tag == fields::kType) read.type = number;
    if (tag == fields::kUnit) read.unit = number;
  });
  return read;
}

std::pair<uint64_t, uint64_t> ReadMapping(const pbf_reader& message) {
  std::pair<uint64_t, uint64_t> read;
  ForEachPprofNumber(message, [&](auto tag, uint64_t number) {
    if (tag == fields::kMappingId) read.first = number;
    if (tag == fields::kMappingFile) read.second = number;
  });
  return read;
}

std::pair<uint64_t, PprofFunction> ReadFunction(const pbf_reader& message) {
  std::pair<uint64_t, PprofFunction> read;
  ForEachPprofNumber(message, [&](auto tag, uint64_t number) {
    if (tag == fields::kOfId) read.first = number;
    if (tag == fields::kName) read.second.name = number;
    if (tag == fields::kSystemName) read.second.system_name = number;
    if (tag == fields::kFile) read.second.file = number;
  });
  return read;
}

PprofLine ReadLine(const pbf_reader& message) {
  PprofLine line;
  ForEachPprofNumber(message, [&](auto tag, uint64_t number) {
    if (tag == fields::kFunctionId) line.function = number;
    if (tag == fields::kLineNumber) line.line = number;
  });
  return line;
}

std::pair<uint64_t, PprofLocation> ReadLocation(pbf_reader message) {
  std::pair<uint64_t, PprofLocation> read;
  while (message.next()) {
    const auto tag = message.tag();
    if (tag == fields::kLine && message.wire_type() == pbf_wire_type::length_delimited) {
      read.second.lines.push_back(ReadLine(message.get_message()));
    } else if (message.wire_type() == pbf_wire_type::varint) {
      const uint64_t number = message.get_uint64();
      if (tag == fields::kId) read.first = number;
      if (tag == fields::kOfMapping) read.second.mapping = number;
      if (tag == fields::kAddress) read.second.address = number;
    } else {
      message.skip();
    }
  }
  return read;
}

void ReadNumber(pbf_reader& reader, PprofTables& to) {
  const auto tag = reader.tag();
  if (reader.wire_type() != pbf_wire_type::varint) return reader.skip();
  const uint64_t number = reader.get_uint64();
  if (tag == fields::kPeriod) to.period = number;
  if (tag == fields::kTimeNanos) to.time_ns = number;
  if (tag == fields::kDurationNanos) to.duration_ns = number;
}

}  // namespace

void PprofTables::Read(std::string_view bytes, std::string_view* at) {
  pbf_reader reader(bytes.data(), bytes.size());
  *at = bytes;
  while (reader.next()) {
    if (reader.wire_type() != pbf_wire_type::length_delimited) {
      ReadNumber(reader, *this);
      continue;
    }
    const auto tag = reader.tag();
    const protozero::data_view view = reader.get_view();
    *at = {view.data(), view.size()};
    const pbf_reader message(view);
    if (tag == fields::kSampleType) types.push_back(ReadValueType(message));
    if (tag == fields::kPeriodType) period_type = ReadValueType(message);
    if (tag == fields::kSample) samples.push_back(*at);
    if (tag == fields::kString) strings.push_back(*at);
    if (tag == fields::kMapping) mappings.insert(ReadMapping(message));
    if (tag == fields::kLocation) locations.insert(ReadLocation(message));
    if (tag == fields::kFunction) functions.insert(ReadFunction(message));
  }
}

}  // namespace jprof::profile
