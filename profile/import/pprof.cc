// Reads profiles of pprof: messages of profile.proto, which zlib has expanded already.
#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>

#include "profile/files/printable_text.h"
#include "profile/import/formats.h"
#include "profile/import/java_name.h"
#include "profile/import/pprof_tables.h"

namespace jprof::profile {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
namespace field = pprof_field;

constexpr uint64_t kMostOfASample = uint64_t{1} << 53;
constexpr size_t kMostPprofFrames = 1 << 16;  // of one stack

// Reads a field with any number of integers, which are packed or one by one.
void ReadNumbers(pbf_reader& reader, std::vector<uint64_t>& to) {
  if (reader.wire_type() == pbf_wire_type::varint) {
    to.push_back(reader.get_uint64());
    return;
  }
  for (const uint64_t number : reader.get_packed_uint64()) to.push_back(number);
}

class PprofReader {
 public:
  PprofReader(std::string_view bytes, const ImportOptions& options, SampleTree& tree)
      : bytes_(bytes), options_(options), tree_(tree) {}

  Result<ForeignRun> Read() {
    try {
      tables_.Read(bytes_, &at_);
      if (auto chosen = ChooseValues(); !chosen) return std::unexpected(chosen.error());
      for (const std::string_view sample : tables_.samples) {
        at_ = sample;
        ReadSample(sample);
      }
    } catch (const std::exception& damage) {
      return Fail(
          "offset {}: the profile is damaged{}", at_.data() - bytes_.data(),
          std::string_view(damage.what()).empty() ? "" : fmt::format(" ({})", damage.what()));
    }
    if (!missing_.empty()) return Fail("it is damaged: {}", missing_);
    Describe();
    return std::move(run_);
  }

 private:
  std::string_view Text(uint64_t index) {
    if (index < tables_.strings.size()) return tables_.strings[index];
    missing_ = fmt::format("a text {} is missing, of {}", index, tables_.strings.size());
    return {};
  }

  bool Is(const PprofValueType& type, std::string_view name, std::string_view unit) {
    return Text(type.type) == name && Text(type.unit) == unit;
  }

  // Chooses the column of values, and what one of them stands for.
  Result<void> ChooseValues() {
    const bool is_cpu = tables_.period > 0 && Is(tables_.period_type, "cpu", "nanoseconds");
    if (options_.period_ns != 0) {
      period_ns_ = options_.period_ns;
    } else if (is_cpu) {
      period_ns_ = tables_.period;
    }
    std::string names;
    for (size_t i = 0; i < tables_.types.size(); ++i) {
      const std::string_view type = Text(tables_.types[i].type);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", CleanText(type));
      const bool is_count = Text(tables_.types[i].unit) == "count";
      const bool is_time = period_ns_ != 0 && Text(tables_.types[i].unit) == "nanoseconds";
      if (options_.event.empty() ? (type == "samples" && is_count) || (type == "cpu" && is_time)
                                 : type == options_.event) {
        column_ = i;
        divides_ = is_time;
        if (options_.event.empty() && is_count) break;
        if (!options_.event.empty()) return {};
      }
    }
    if (column_ < tables_.types.size()) return {};
    if (!options_.event.empty())
      return WrongUse("--event {}: the profile has no such sample type; it has: {}",
                      CleanText(options_.event), names.empty() ? "none" : names);
    return WrongUse("it has no samples of CPU time; choose one of its sample types by --event: {}",
                    names.empty() ? "none" : names);
  }

  ForeignFrame FrameOf(const PprofLocation& location, const PprofLine& line, bool is_inlined) {
    const auto found = tables_.functions.find(line.function);
    if (found == tables_.functions.end()) {
      missing_ = fmt::format("function {} is missing", line.function);
      return {.method = tree_.AddMethod({.class_name = {},
                                         .name = "(missing function)",
                                         .signature = {},
                                         .flags = kMethodStub}),
              .kind = FrameKind::kOther};
    }
    const PprofFunction& function = found->second;
    const std::string_view name = Text(function.name), system = Text(function.system_name);
    const auto mapping = tables_.mappings.find(location.mapping);
    const std::string_view module = mapping == tables_.mappings.end() ? "" : Text(mapping->second);
    const bool is_system = ParseJavaName(system).has_value();
    ForeignFrame frame = AddTextFrame(is_system ? system : name, module, tree_);
    const bool is_java = frame.kind != FrameKind::kFunction;
    if (is_java && is_inlined) frame.kind = FrameKind::kInlined;
    if (is_java && line.line > 0 && line.line < 1u << 31) {
      const std::string_view file = Text(function.file);
      frame.site =
          tree_.AddSite(file.substr(file.rfind('/') + 1), -1, static_cast<uint32_t>(line.line));
    }
    return frame;
  }

  void AddFrames(uint64_t id, std::vector<ForeignFrame>& frames) {
    const auto found = tables_.locations.find(id);
    if (found == tables_.locations.end()) {
      missing_ = fmt::format("location {} is missing", id);
      return;
    }
    const PprofLocation& location = found->second;
    for (size_t i = 0; i < location.lines.size() && frames.size() < kMostPprofFrames; ++i)
      frames.push_back(FrameOf(location, location.lines[i], i + 1 < location.lines.size()));
    if (!location.lines.empty()) return;
    const auto mapping = tables_.mappings.find(location.mapping);
    frames.push_back(
        {.method = tree_.AddMethod(
             {.class_name = mapping == tables_.mappings.end() ? "" : Text(mapping->second),
              .name = fmt::format("[{:#x}]", location.address),
              .signature = {},
              .flags = kMethodCode}),
         .kind = FrameKind::kFunction});
  }

  // Reads a label of a sample, of which those of threads are used.
  void ReadLabel(const pbf_reader& message, ForeignThread* thread) {
    uint64_t key = 0, text = 0, number = 0;
    ForEachPprofNumber(message, [&](auto tag, uint64_t value) {
      if (tag == field::kKey) key = value;
      if (tag == field::kText) text = value;
      if (tag == field::kNumber) number = value;
    });
    const std::string_view name = Text(key);
    if (name == "thread" || name == "thread_name" || name == "thread.name") {
      thread->name = Text(text);
    } else if (name == "tid" || name == "thread_id" || name == "thread.id") {
      thread->tid = static_cast<uint32_t>(number);
    }
  }

  void ReadSample(std::string_view bytes) {
    pbf_reader message(bytes.data(), bytes.size());
    std::vector<uint64_t> ids, values;
    ForeignThread thread = {.name = "(all threads)"};
    while (message.next()) {
      const bool is_message = message.wire_type() == pbf_wire_type::length_delimited;
      const bool is_number = message.wire_type() == pbf_wire_type::varint;
      if (message.tag() == field::kLocationId && (is_message || is_number)) {
        ReadNumbers(message, ids);
      } else if (message.tag() == field::kValue && (is_message || is_number)) {
        ReadNumbers(message, values);
      } else if (message.tag() == field::kLabel && is_message) {
        ReadLabel(message.get_message(), &thread);
      } else {
        message.skip();
      }
    }
    if (column_ >= values.size() || values[column_] == 0) return;
    if (values[column_] > kMostOfASample) {
      ++negative_;
      return;
    }
    std::vector<ForeignFrame> frames;
    const bool is_cut = ids.size() > kMostPprofFrames;
    if (is_cut) ids.resize(kMostPprofFrames);
    for (size_t i = 0; i < ids.size() && frames.size() < kMostPprofFrames; ++i)
      AddFrames(ids[i], frames);
    const double samples =
        static_cast<double>(values[column_]) / (divides_ ? static_cast<double>(period_ns_) : 1) +
        carried_;
    const auto whole = static_cast<int64_t>(samples + 0.5);
    carried_ = samples - static_cast<double>(whole);
    tree_.Add(tree_.AddThread(thread), frames, {.value = whole, .count = whole, .is_cut = is_cut});
  }

  void Describe() {
    run_.start_unix_ns = tables_.time_ns;
    run_.duration_ns = tables_.duration_ns;
    Imported& imported = run_.imported;
    imported.event = CleanText(Text(tables_.types[column_].type));
    const bool is_time = divides_ || Text(tables_.types[column_].unit) == "count";
    Metric metric = SamplesMetric(is_time ? period_ns_ : 0, Period::Clock::kUnknown);
    if (!is_time) metric.name = imported.event;
    if (!is_time) metric.unit = CleanText(Text(tables_.types[column_].unit));
    run_.meta.metrics = {metric};
    if (metric.period.value == 0)
      imported.notes.emplace_back(
          "the file does not say the CPU time of a sample: --period states "
          "it");
    if (negative_ > 0)
      imported.notes.push_back(
          fmt::format("{} samples have values below 0, and are left out", negative_));
    for (size_t i = 0; i < tables_.types.size(); ++i) {
      if (i != column_)
        imported.notes.push_back(fmt::format("values of the type {} are not imported (--event)",
                                             CleanText(Text(tables_.types[i].type))));
    }
    imported.notes.emplace_back("the command and the CPU times of threads are not known");
  }

  const std::string_view bytes_;
  const ImportOptions& options_;
  SampleTree& tree_;
  ForeignRun run_;
  std::string_view at_;  // what is being read
  std::string missing_;
  PprofTables tables_;
  uint64_t period_ns_ = 0, negative_ = 0;
  size_t column_ = ~size_t{0};
  bool divides_ = false;
  double carried_ = 0;
};

}  // namespace

// The message has no magic number: all its fields have to be those of a profile.
bool RecognisesPprof(std::string_view bytes) {
  constexpr int kLastField = 15;
  bool has_strings = false, has_types = false;
  try {
    pbf_reader reader(bytes.data(), bytes.size());
    while (reader.next()) {
      if (static_cast<int>(reader.tag()) > kLastField) return false;
      has_strings |= reader.tag() == field::kString;
      has_types |= reader.tag() == field::kSampleType;
      reader.skip();
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return has_strings && has_types;
}

Result<ForeignRun> ReadPprof(std::string_view bytes, const ImportOptions& options,
                             SampleTree& tree) {
  return PprofReader(bytes, options, tree).Read();
}

}  // namespace jprof::profile
