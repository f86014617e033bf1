// Reads a trace of events, which is a directory that libjprof-events wrote. What records contain
// follows from the specifications in the trace, so that traces of old versions remain readable.
//
// The files are not trusted: damaged packets and records are counted, and the rest is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

struct Damages {
  uint64_t packets = 0;           // files of which a part could not be read
  uint64_t records = 0;           // of events that no specification in the trace has
  std::vector<std::string> what;  // the first ones, with the name of the file
};

// Adds a file of which a part could not be read.
void Complain(Damages& damages, const std::string& path, std::string_view what);

struct Trace {
  std::string directory;
  std::map<uint32_t, KnownEvent> events;   // by id
  std::vector<std::string> packets;        // paths, each thread's in the order of time
  uint64_t discarded = 0;                  // events, by their writers
  std::map<uint32_t, Summary> statistics;  // by id
  Damages damages;
};

// Opens a trace. Fails if the directory is none or has no specification that can be read.
Result<Trace> OpenTrace(const std::string& directory);

using FieldValue = std::variant<uint64_t, int64_t, double, std::string_view>;

struct Record {
  const KnownEvent& event;
  uint64_t ticks;
  uint32_t process, thread;
  const std::vector<FieldValue>& values;  // one for each of event.fields
};

// Visits all records, a thread's in the order of time. Adds what is damaged to trace.damages.
void VisitRecords(Trace& trace, const std::function<void(const Record&)>& visit);

}  // namespace jprof::events
