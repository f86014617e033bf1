// The file meta.json, the only description of a profile. The agent writes it when recording starts;
// every report reads it. docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/kinds.h"
#include "profile/files/damage.h"

namespace jprof::profile {

// The interval between two samples.
struct Period {
  enum class Clock : uint8_t { kUnknown, kCpu, kElapsed };

  uint64_t value = 0;             // one sample every `value` of `unit`; 0 if not taken by period
  uint64_t asked = 0;             // the requested period if `value` was made longer, else 0
  std::string unit;               // ns, bytes, events
  Clock clock = Clock::kUnknown;  // for ns, the thread's CPU time or elapsed time
  bool operator==(const Period&) const = default;
};

// The metric of a timeline with times: time without the interrupts that came meanwhile. Readers
// compute it.
inline constexpr char kNoInterrupts[] = "noints";

// One column of every node's values, in the order of the files.
struct Metric {
  enum class Kind : uint8_t {
    kTime,      // clock ticks; corrected by calibration
    kCount,     // events of a counter; corrected by calibration
    kSamples,   // number of samples
    kWeighted,  // the amount, in `unit`, that samples stand for; the next metric is their number
    kExact,     // allocated objects or bytes; recording does not change them
    kEstimate,  // live objects or bytes, estimated from objects that were sampled
  };

  std::string name;
  std::string unit;
  double scale = 1;  // raw value * scale = value in `unit`; positive
  Kind kind = Kind::kCount;
  Period period;  // of sampled metrics

  bool is_time() const { return kind == Kind::kTime; }
  bool is_weighted() const { return kind == Kind::kWeighted; }
  bool is_samples() const {
    return kind == Kind::kSamples || kind == Kind::kWeighted;
  }  // sampled: never calibrated
  bool is_estimate() const { return kind == Kind::kEstimate; }
  // Returns whether recording changes the values, so that calibration corrects them.
  bool is_disturbed() const { return kind == Kind::kTime || kind == Kind::kCount; }
  // Returns the name of the metric of a calibration table that corrects it.
  std::string_view calibrated_as() const {
    return name == kNoInterrupts ? std::string_view("time") : name;
  }
  // Returns whether each sample stands for the same amount of a thread's CPU time.
  bool is_cpu_samples() const {
    return kind == Kind::kSamples && period.unit == "ns" && period.value > 0 &&
           period.clock != Period::Clock::kElapsed;
  }
  bool operator==(const Metric&) const = default;
};

// The clock of intervals, and the overhead of timed events.
struct Clock {
  double ticks_per_second = 0;  // 0 if nothing was timed
  double granularity_ticks = 1;
  double read_ticks = 0;        // one reading among others
  double bracket_ticks = 0;     // timer overhead, which a timed event around nothing measures
  uint64_t bracket_period = 0;  // one event in this many is timed; 0 if none
  // Returns the part of the timer overhead that remains in each interval: the time measured for one
  // event stands for all events of its period, of which only this one was timed.
  double timer_overhead() const;
  bool operator==(const Clock&) const = default;
};

struct Machine {
  std::string cpu, arch, kernel;
  uint64_t cpus = 0;
  bool operator==(const Machine&) const = default;
};

struct Jvm {
  std::string name, version, vendor, home, build_id;  // build_id is that of libjvm.so
  std::string Title() const;                          // name and version
  bool operator==(const Jvm&) const = default;
};

// Describes how entries and exits were recorded.
struct Probe {
  std::string kind;  // NameOf(ProbeKind), or what a later version wrote
  std::string note;  // why it is not the faster kind
  bool is(ProbeKind other) const { return kind == NameOf(other); }
  bool operator==(const Probe&) const = default;
};

// The agent's options as they were applied.
struct RecordingOptions {
  std::string text;  // as given
  bool fold_recursion = false;
  uint64_t tree_memory = 0;               // bytes
  std::string threads, methods, focus;    // filters
  std::string label_from;                 // methods whose argument is a label
  std::vector<std::string> distribution;  // patterns of methods, each with + or - before it
  uint64_t time_every = 1;                // how many intervals a timed one stands for
  std::string within;                     // methods outside of which nothing is recorded
  uint64_t after = 0;                     // the first calls of these, which are not recorded
  bool begins_paused = false;
  std::vector<std::string> slow;  // methods and times of SLOW: "com.acme.Cart.total:10ms"
  std::string trace_mode;         // normal, wrap, continuous
  uint64_t trace_memory = 0;      // bytes
  uint64_t slow_memory = 0;       // bytes that SLOW may keep
  bool train = false;
  std::string timer;         // auto, perf, posix
  std::string timer_reason;  // why auto became posix; empty if it did not
  bool force_rate = false;
  uint64_t interrupt_ns = 0;  // cost of one timer interrupt on this machine; 0 if not measured
  bool tprof = false;         // jitted code is logged
  bool code = false;          // including its instructions
  bool sites = false;         // nodes of kind kSite
  bool operator==(const RecordingOptions&) const = default;
};

// Describes a piece of a recording (--rotate), which is a profile of its own.
struct Piece {
  uint64_t number = 0;                // from 1; 0: the profile is no piece
  std::string of;                     // the name of the whole profile when it was recorded
  double begin_s = 0, end_s = 0;      // since the recording began
  std::vector<std::string> left_out;  // what only the whole profile has

  // Returns "piece 3 of app.jprof: 1200.000 s to 1800.001 s of the recording".
  std::string Text() const;
  bool operator==(const Piece&) const = default;
};

struct Meta {
  std::string jprof;  // version of the writer
  std::string mode;   // NameOf(Mode), or what a later version wrote; empty: not known
  uint64_t pid = 0;
  std::vector<std::string> command;
  std::string cwd;
  std::string start;  // ISO 8601, UTC
  RecordingOptions options;
  std::vector<Metric> metrics;  // none in mode calltree
  Probe probe;
  Clock clock;
  Machine machine;
  Jvm jvm;
  // What a calibration table must have in common with the profile.
  std::map<std::string, std::string> fingerprint;
  Piece piece;

  bool is(Mode other) const { return mode == NameOf(other); }
  // Returns how it recorded: "callflow with folded recursion, one interval in 16 timed".
  std::string ModeText() const;
  bool operator==(const Meta&) const = default;
};

// Returns the text of meta.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const Meta& meta);

// Parses the output of ToJson or any other text. A field that is missing or has another type keeps
// its default. Text that is not a JSON object is reported as damage. Texts are printable
// (CleanText).
Meta ParseMeta(std::string_view text, Damages& damages);

}  // namespace jprof::profile
