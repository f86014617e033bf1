// Reads a trace of events, which is a directory that libjprof-events wrote. What records contain
// follows from the specifications in the trace, so that traces of old versions remain readable.
//
// The files are not trusted: damaged files are named, what cannot be read of them is counted, and
// the rest is read.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/result.h"
#include "events/spec/specification.h"

namespace jprof::events {

// What records with one id are.
struct KnownEvent {
  std::string full_name;
  uint32_t id = 0;
  Event event;
  std::vector<Field> fields;  // of records, with the written contexts
};

// Statistics of an event.
struct Summary {
  uint64_t count = 0;
  int64_t sum = 0, min = 0, max = 0;
  uint64_t histogram[64] = {};  // [0]: values below 1; [n]: from 2^(n-1) to below 2^n
};

// Adds the values of another summary.
void Add(const Summary& one, Summary& sum);

// A thread that wrote events.
struct Writer {
  uint32_t process = 0, thread = 0;
  std::string name;

  auto operator<=>(const Writer&) const = default;
};

struct Damages {
  uint64_t files = 0;             // of which a part could not be read
  uint64_t bytes = 0;             // of records that could not be read
  std::vector<std::string> what;  // the first ones, with the name of the file

  static constexpr size_t kMostNamed = 10;
};

// Adds a file of which a part could not be read. The text begins with its name.
void Complain(Damages& damages, std::string text);

struct Trace {
  std::string directory;
  std::map<uint32_t, KnownEvent> events;  // by id
  std::vector<std::string> packets;       // paths, each thread's in the order of time
  uint64_t discarded = 0;                 // events, by their writers
  std::map<std::pair<Writer, uint32_t>, Summary> statistics;  // by thread and id
  Damages damages;
};

// Opens a trace. Fails if the directory is none or has no specification that can be read.
Result<Trace> OpenTrace(const std::string& directory);

// Adds the events of all specifications of the trace, which a running program may add. Fails if
// there are none.
Result<void> ReadSpecifications(Trace& trace);

using FieldValue = std::variant<uint64_t, int64_t, double, std::string_view>;

struct Record {
  const KnownEvent& event;
  uint64_t ticks;
  const Writer& writer;
  const std::vector<FieldValue>& values;  // one for each of event.fields
};

// Returns the value of the field with this name, or null.
const FieldValue* ValueOf(const Record& record, std::string_view field);

// Visits all records, a thread's in the order of time. Adds what is damaged to trace.damages.
void VisitRecords(Trace& trace, const std::function<void(const Record&)>& visit);

}  // namespace jprof::events
