// Writes a chunk of JDK Flight Recorder by the obvious implementation: one list of bytes after the
// other. For tests of the reader, and the seeds of its fuzzer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::profile {

class JfrWriter {
 public:
  static constexpr uint64_t kStartNanos = 1'700'000'000'000'000'000, kTicksPerSecond = 1'000'000;

  struct Frame {
    std::string class_name, name, descriptor;
    int line = 0, bytecode = 0;
    std::string type = "JIT compiled";
  };
  struct Sample {
    std::string thread = "main";
    std::vector<Frame> frames;  // the innermost first
    bool truncated = false;
    uint64_t ticks = 0;
  };

  bool compressed = true;
  uint64_t size_in_header = 0;  // 0: the chunk's size
  std::string period = "20 ms";
  bool pools_texts = false;  // the period is a constant
  int nested_empty = 0;      // further types, each with so many fields of the one before
  std::vector<Sample> samples;
  bool cpu_time = false;          // the samples are jdk.CPUTimeSample
  std::vector<uint64_t> periods;  // of these, in ticks; by sample
  uint64_t lost = 0;

  std::string Chunk() const {
    std::string pools, events;
    uint64_t next = 1;
    std::map<std::string, uint64_t> symbols, classes, methods, types, threads, stacks;
    std::string symbol_pool, class_pool, method_pool, type_pool, thread_pool, stack_pool;
    const auto symbol = [&](const std::string& text) {
      const auto [entry, is_new] = symbols.try_emplace(text, next);
      if (is_new) symbol_pool += Long(next++) + Text(text);
      return entry->second;
    };
    const auto class_of = [&](const std::string& text) {
      const uint64_t name = symbol(text);
      const auto [entry, is_new] = classes.try_emplace(text, next);
      if (is_new) class_pool += Long(next++) + Long(name);
      return entry->second;
    };
    const auto method = [&](const Frame& frame) {
      const uint64_t of = class_of(frame.class_name), name = symbol(frame.name),
                     descriptor = symbol(frame.descriptor);
      const auto [entry, is_new] =
          methods.try_emplace(frame.class_name + "." + frame.name + frame.descriptor, next);
      if (is_new) method_pool += Long(next++) + Long(of) + Long(name) + Long(descriptor) + Int(8);
      return entry->second;
    };
    const auto type = [&](const std::string& text) {
      const auto [entry, is_new] = types.try_emplace(text, next);
      if (is_new) type_pool += Long(next++) + Text(text);
      return entry->second;
    };
    size_t number = 0;
    for (const Sample& sample : samples) {
      const auto [thread, is_new] = threads.try_emplace(sample.thread, next);
      if (is_new) thread_pool += Long(next++) + Text("os") + Long(77) + Text(sample.thread);
      std::string frames;
      for (const Frame& frame : sample.frames)
        frames += Long(method(frame)) + Int(static_cast<uint32_t>(frame.line)) +
                  Int(static_cast<uint32_t>(frame.bytecode)) + Long(type(frame.type));
      uint64_t stack = 0;
      if (!sample.frames.empty()) {
        stack = next++;
        stack_pool += Long(stack) + std::string(1, sample.truncated ? '\1' : '\0') +
                      Int(static_cast<uint32_t>(sample.frames.size())) + frames;
      }
      std::string body = Long(cpu_time ? kCpuTimeSample : kExecutionSample) + Long(sample.ticks) +
                         Long(thread->second) + Long(stack);
      if (cpu_time) body += Long(number < periods.size() ? periods[number] : 0) + '\1';
      events += Event(body);
      ++number;
    }
    events += Event(Long(kActiveSetting) + Long(0) + Long(kExecutionSample) + Text("period") +
                    (pools_texts ? '\2' + Long(3) : Text(period)));
    if (lost != 0)
      events += Event(Long(kLost) + Long(0) + Int(static_cast<uint32_t>(lost)) +
                      Long(threads.begin()->second));
    const auto pool = [&](uint64_t of, size_t count, const std::string& entries) {
      pools += Long(of) + Int(static_cast<uint32_t>(count)) + entries;
    };
    pool(kSymbol, symbols.size(), symbol_pool);
    pool(kClass, classes.size(), class_pool);
    pool(kMethod, methods.size(), method_pool);
    pool(kFrameType, types.size(), type_pool);
    pool(kThread, threads.size(), thread_pool);
    pool(kStackTrace, CountStacks(), stack_pool);
    if (pools_texts) {
      const std::string others = std::exchange(pools, {});
      pool(kString, 2, Long(2) + Text("another") + Long(3) + Text(period));
      pools += others;
    }
    events +=
        Event(Long(1) + Long(0) + Long(0) + Long(0) + '\0' + Int(pools_texts ? 7 : 6) + pools);
    events += Event(Metadata());
    const uint64_t size = 68 + events.size();
    std::string header("FLR\0", 4);
    header += Fixed(2, 2) + Fixed(1, 2) + Fixed(size_in_header != 0 ? size_in_header : size, 8) +
              Fixed(0, 8) + Fixed(0, 8) + Fixed(kStartNanos, 8) + Fixed(2'000'000'000, 8) +
              Fixed(0, 8) + Fixed(kTicksPerSecond, 8) + Fixed(compressed ? 1 : 0, 4);
    return header + events;
  }

 private:
  enum Id : uint64_t {
    kLong = 10,
    kInt,
    kBoolean,
    kString,
    kSymbol,
    kClass,
    kMethod,
    kFrameType,
    kStackFrame,
    kStackTrace,
    kThread,
    kExecutionSample,
    kActiveSetting,
    kCpuTimeSample,
    kLost,
    kTimespan,
  };

  static std::string Fixed(uint64_t value, int width) {
    std::string text;
    for (int i = width - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  std::string Number(uint64_t value, int width) const {
    if (!compressed) return Fixed(value, width);
    std::string text;
    for (int i = 0; i < 8; ++i) {
      if (value < 0x80) return text + static_cast<char>(value);
      text += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    return text + static_cast<char>(value);
  }
  std::string Long(uint64_t value) const { return Number(value, 8); }
  std::string Int(uint32_t value) const { return Number(value, 4); }
  std::string Text(const std::string& text) const {
    return '\3' + Int(static_cast<uint32_t>(text.size())) + text;
  }
  // The size counts itself: always four bytes, as the JVM writes it.
  std::string Event(const std::string& body) const {
    const auto size = static_cast<uint32_t>(4 + body.size());
    if (!compressed) return Fixed(size, 4) + body;
    std::string head;
    for (int i = 0; i < 3; ++i) head += static_cast<char>(size >> (7 * i) | 0x80);
    return head + static_cast<char>(size >> 21 & 0x7f) + body;
  }
  size_t CountStacks() const {
    size_t count = 0;
    for (const Sample& sample : samples) count += !sample.frames.empty();
    return count;
  }

  std::string Metadata() const {
    std::vector<std::string> texts;
    std::map<std::string, uint32_t> index;
    const auto text = [&](const std::string& value) {
      const auto [entry, is_new] = index.try_emplace(value, texts.size());
      if (is_new) texts.push_back(value);
      return Int(entry->second);
    };
    const auto element = [&](const std::string& name,
                             const std::vector<std::pair<std::string, std::string>>& attributes,
                             const std::vector<std::string>& children) {
      std::string made = text(name) + Int(static_cast<uint32_t>(attributes.size()));
      for (const auto& [key, value] : attributes) {
        made += text(key);
        made += text(value);
      }
      made += Int(static_cast<uint32_t>(children.size()));
      for (const std::string& child : children) made += child;
      return made;
    };
    std::vector<std::string> classes;
    const auto field = [&](const std::string& name, Id type, bool constant = false,
                           bool array = false, bool ticks = false) {
      std::vector<std::pair<std::string, std::string>> attributes = {
          {"name", name}, {"class", std::to_string(type)}};
      if (constant) attributes.emplace_back("constantPool", "true");
      if (array) attributes.emplace_back("dimension", "1");
      std::vector<std::string> children;
      if (ticks)
        children.push_back(
            element("annotation", {{"class", std::to_string(kTimespan)}, {"value", "TICKS"}}, {}));
      return element("field", attributes, children);
    };
    const auto type = [&](const std::string& name, Id id, const std::vector<std::string>& fields) {
      classes.push_back(element("class", {{"name", name}, {"id", std::to_string(id)}}, fields));
    };
    type("long", kLong, {});
    type("int", kInt, {});
    type("boolean", kBoolean, {});
    type("java.lang.String", kString, {});
    type("jdk.jfr.Timespan", kTimespan, {});
    type("jdk.types.Symbol", kSymbol, {field("string", kString)});
    type("java.lang.Class", kClass, {field("name", kSymbol, true)});
    type("jdk.types.Method", kMethod,
         {field("type", kClass, true), field("name", kSymbol, true),
          field("descriptor", kSymbol, true), field("modifiers", kInt)});
    type("jdk.types.FrameType", kFrameType, {field("description", kString)});
    type("jdk.types.StackFrame", kStackFrame,
         {field("method", kMethod, true), field("lineNumber", kInt), field("bytecodeIndex", kInt),
          field("type", kFrameType, true)});
    type("jdk.types.StackTrace", kStackTrace,
         {field("truncated", kBoolean), field("frames", kStackFrame, false, true)});
    type("java.lang.Thread", kThread,
         {field("osName", kString), field("osThreadId", kLong), field("javaName", kString)});
    type("jdk.ExecutionSample", kExecutionSample,
         {field("startTime", kLong), field("sampledThread", kThread, true),
          field("stackTrace", kStackTrace, true)});
    type("jdk.ActiveSetting", kActiveSetting,
         {field("startTime", kLong), field("id", kLong), field("name", kString),
          field("value", kString)});
    type("jdk.CPUTimeSample", kCpuTimeSample,
         {field("startTime", kLong), field("eventThread", kThread, true),
          field("stackTrace", kStackTrace, true),
          field("samplingPeriod", kLong, false, false, true), field("biased", kBoolean)});
    type("jdk.CPUTimeSamplesLost", kLost,
         {field("startTime", kLong), field("lostSamples", kInt),
          field("eventThread", kThread, true)});
    // Structures in structures; the innermost has no field.
    for (int i = 0; i < 6 && nested_empty > 0; ++i) {
      const auto id = static_cast<Id>(100 + i);
      const std::string inner = field("x", static_cast<Id>(id - 1));
      type("Nested" + std::to_string(i), id,
           std::vector<std::string>(i == 0 ? 0 : static_cast<size_t>(nested_empty), inner));
    }
    const std::string root = element("root", {}, {element("metadata", {}, classes)});
    std::string made =
        Long(0) + Long(0) + Long(0) + Long(1) + Int(static_cast<uint32_t>(texts.size()));
    for (const std::string& one : texts) made += Text(one);
    return made + root;
  }
};

}  // namespace jprof::profile
