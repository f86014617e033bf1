// Holds the specification of events as it was read: what each event means, and the fields that its
// records have. Layer, class and name of an event, written layer::class::name, identify it together
// with its version; docs/EVENTS.md explains the terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::events {

enum class FieldType {
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat64,
  kAddress,
  kString,
};

struct TypeTraits {
  FieldType type;
  std::string_view name;  // in specifications
  uint32_t size;          // bytes in a record; of a string, those without its text
  bool is_signed;
};

inline constexpr TypeTraits kTypes[] = {
    {FieldType::kUint8, "uint8", 1, false},    {FieldType::kUint16, "uint16", 2, false},
    {FieldType::kUint32, "uint32", 4, false},  {FieldType::kUint64, "uint64", 8, false},
    {FieldType::kInt8, "int8", 1, true},       {FieldType::kInt16, "int16", 2, true},
    {FieldType::kInt32, "int32", 4, true},     {FieldType::kInt64, "int64", 8, true},
    {FieldType::kFloat64, "float64", 8, true}, {FieldType::kAddress, "address", 8, false},
    {FieldType::kString, "string", 1, false},
};

inline constexpr const TypeTraits& TraitsOf(FieldType type) {
  return kTypes[static_cast<size_t>(type)];
}

inline constexpr bool IsInteger(FieldType type) {
  return type != FieldType::kFloat64 && type != FieldType::kString;
}

// Bytes of a string field, without the zero byte at its end; longer texts are cut off.
inline constexpr uint32_t kMostTextBytes = 255;

// One of the values that an enumerated field may have.
struct NamedValue {
  std::string name;
  uint8_t number = 0;
};

struct Field {
  std::string name;
  FieldType type = FieldType::kUint64;
  std::string unit;  // empty if it has none
  std::string meaning;
  std::vector<NamedValue> values;  // empty unless it is enumerated
};

// What an event belongs to, in the order in which records contain it.
enum class Context { kProcessor, kProcess, kThread, kCallingContext };

struct ContextTraits {
  Context context;
  std::string_view name;  // in specifications, and of the field in records
  FieldType type;
  std::string_view meaning;
};

inline constexpr ContextTraits kContexts[] = {
    {Context::kProcessor, "processor", FieldType::kUint32, "The number of the processor."},
    {Context::kProcess, "process", FieldType::kUint32, "The process id."},
    {Context::kThread, "thread", FieldType::kUint32, "The kernel's id of the thread."},
    {Context::kCallingContext, "calling_context", FieldType::kUint64,
     "The node of the call tree in which the thread is."},
};

inline constexpr const ContextTraits& TraitsOf(Context context) {
  return kContexts[static_cast<size_t>(context)];
}

enum class Level { kOff, kStatistics, kLog };
inline constexpr std::string_view kLevels[] = {"off", "statistics", "log"};

struct Pair {
  bool begins = false;  // whether the event is the begin or the end
  std::string name;     // both events of the pair have it
  std::string on;       // the field whose values must be equal; empty if pairs are nested
};

struct State {
  std::string field;
  Context of = Context::kThread;
};

struct Event {
  std::string name;
  uint32_t version = 1;
  Level level = Level::kOff;  // when a trace is opened
  std::string documentation;
  std::vector<Context> written;   // the contexts that each record contains
  std::vector<Context> restored;  // those that a reader restores from dispatches
  std::optional<Pair> pair;
  std::optional<State> state;
  // Names of fields; empty if the event has no such meaning.
  std::string link;        // events with equal values form an arrow
  std::string counter;     // a value over time
  std::string marker;      // a text to be shown at this time
  std::string statistics;  // the value that the level statistics summarises
  std::vector<Field> fields;
  int line = 0;  // of the specification
};

struct EventClass {
  std::string name;
  std::string documentation;
  std::vector<Event> events;
};

struct Specification {
  std::string name;  // of the generated files
  std::string layer;
  std::string documentation;
  std::vector<EventClass> classes;
  std::string text;  // the XML; traces contain it
};

// Returns the written contexts as fields, then the fields: the order in which records contain them.
std::vector<Field> RecordFields(const Event& event);

// Returns the field with this name, or null.
const Field* FindField(const Event& event, std::string_view name);

// Returns the name in generated Java: orderBegin or, of a class, OrderBegin for order_begin. An
// underscore before a digit vanishes, so that two names may have the same.
std::string JavaName(std::string_view name, bool first_is_large);

}  // namespace jprof::events
