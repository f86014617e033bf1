// Writes pprof: gzip'ed protobuf, one sample per context. The numbers of fields are those of the
// published profile.proto of google/pprof.
#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <ranges>
#include <vector>

#include "model/tree/context_tree.h"
#include "reports/export/export_list.h"
#include "reports/export/gzip_stream.h"
#include "reports/export/pprof_parts.h"
#include "reports/export/stacks.h"
#include "reports/export/string_table.h"

namespace jprof::reports {
namespace {

using protozero::pbf_writer;

constexpr char kOutside[] = "(outside any method)";

enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};

class PprofWriter {
 public:
  PprofWriter(const model::ContextTree& tree, Output& out)
      : tree_(tree),
        out_(out),
        gzip_(out),
        profile_(buffer_),
        sums_(tree.Sums()),
        used_(tree.frames.size()) {}

  // Writes a file with the nodes `contexts`.
  Result<void> Write(const auto& contexts) {
    WriteTypes();
    for (const model::NodeIndex node : contexts) {
      if (out_.ok()) WriteSample(node);
    }
    WriteMappings();
    for (uint32_t frame = 0; frame < tree_.frames.size(); ++frame) {
      if (used_[frame]) WriteFrame(frame);
    }
    WriteOutside();
    for (const auto& [place, location] : locations_) WriteLine(place, location);
    WriteRun();
    for (const std::string* text : strings_.texts()) {
      profile_.add_string(kStringTable, *text);
      Flush();
    }
    gzip_.Write(buffer_);
    return gzip_.Finish();
  }

 private:
  // Must be called between messages, when nothing refers to the buffer.
  void Flush() {
    if (buffer_.size() < 256 * 1024) return;
    gzip_.Write(buffer_);
    buffer_.clear();
  }

  void WriteValueType(uint32_t field, const std::string& type, const std::string& unit) {
    pbf_writer value(profile_, field);
    value.add_int64(1, strings_.Of(type));
    value.add_int64(2, strings_.Of(unit));
  }

  void WriteTypes() {
    for (const size_t m : sums_)
      WriteValueType(kSampleType, tree_.measures[m].name, tree_.measures[m].unit);
  }

  uint64_t OutsideId() const { return tree_.frames.size() + 1; }

  // Writes a stack, the leaf first. The thread itself is a label, not a frame.
  void WriteSample(model::NodeIndex node) {
    std::vector<int64_t> rest;
    for (const size_t m : sums_) rest.push_back(tree_.Value(node, m));
    const auto lines = std::ranges::equal_range(tree_.lines, node, {}, &model::LineValues::node);
    for (const model::LineValues& line : lines) {
      values_.clear();
      for (size_t i = 0; i < sums_.size(); ++i) {
        values_.push_back(line.values[sums_[i]]);
        rest[i] -= values_.back();
      }
      WriteValues(node, line.line);
    }
    values_ = std::move(rest);
    WriteValues(node, 0);
  }

  // Writes values_ as a sample at a line of a node, unless all are 0.
  void WriteValues(model::NodeIndex node, uint32_t line) {
    if (std::ranges::all_of(values_, [](int64_t value) { return value == 0; })) return;
    stack_.clear();
    for (model::NodeIndex at = node; tree_.nodes[at].parent != model::kNoNode;
         at = tree_.nodes[at].parent) {
      const uint32_t frame = IndexOf(tree_.nodes[at].frame);
      used_[frame] = true;
      stack_.push_back(LocationOf(frame, line));
      line = tree_.nodes[at].line;  // of the caller
    }
    if (stack_.empty()) stack_.push_back(OutsideId());
    {
      pbf_writer sample(profile_, kSample);
      sample.add_packed_uint64(1, stack_.begin(), stack_.end());
      sample.add_packed_int64(2, values_.begin(), values_.end());
      WriteLabels(sample, tree_.ThreadOf(tree_.nodes[node]));
    }
    Flush();
  }

  // Returns the location of a line of a frame: without a line that of the frame.
  uint64_t LocationOf(uint32_t frame, uint32_t line) {
    if (line == 0) return frame + 1;
    const uint64_t next = OutsideId() + 1 + locations_.size();
    return locations_.try_emplace(uint64_t{frame} << 32 | line, next).first->second;
  }

  void WriteLabels(pbf_writer& sample, const model::ExportThread& thread) {
    {
      pbf_writer label(sample, 3);
      label.add_int64(1, strings_.Of("thread"));
      label.add_int64(2, strings_.Of(thread.name));
    }
    if (thread.tid == 0) return;
    pbf_writer label(sample, 3);
    label.add_int64(1, strings_.Of("tid"));
    label.add_int64(3, thread.tid);
  }

  void WriteMappings() {
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      pbf_writer mapping(profile_, kMapping);
      mapping.add_uint64(1, i + 1);
      mapping.add_int64(5, strings_.Of(tree_.modules[i].path));
      mapping.add_int64(6, strings_.Of(tree_.modules[i].build_id));
      mapping.add_bool(7, true);  // functions are named
    }
  }

  void WriteFrame(uint32_t index) {
    const model::ExportFrame& frame = tree_.frames[index];
    if (frame.kind == model::ExportFrame::Kind::kThread) return;
    WriteFunction(index + 1, frame.readable, frame.full, frame.module + 1, frame.file);
    Flush();
  }

  void WriteFunction(uint64_t id, const std::string& name, const std::string& system_name,
                     uint64_t mapping, const std::string& file) {
    {
      pbf_writer location(profile_, kLocation);
      location.add_uint64(1, id);
      location.add_uint64(2, mapping);
      pbf_writer line(location, 4);
      line.add_uint64(1, id);
    }
    pbf_writer function(profile_, kFunction);
    function.add_uint64(1, id);
    function.add_int64(2, strings_.Of(name));
    function.add_int64(3, strings_.Of(system_name));
    if (!file.empty()) function.add_int64(4, strings_.Of(file));
  }

  // Writes the location of a line. `place` is the frame and the line.
  void WriteLine(uint64_t place, uint64_t id) {
    {
      const auto frame = static_cast<uint32_t>(place >> 32);
      pbf_writer location(profile_, kLocation);
      location.add_uint64(1, id);
      location.add_uint64(2, tree_.frames[frame].module + 1);
      pbf_writer line(location, 4);
      line.add_uint64(1, frame + 1);
      line.add_int64(2, static_cast<uint32_t>(place));
    }
    Flush();
  }

  void WriteOutside() { WriteFunction(OutsideId(), kOutside, kOutside, 1, ""); }

  void WriteComment(const std::string& text) {
    if (!text.empty()) profile_.add_int64(kComment, strings_.Of(text));
  }

  void WriteRun() {
    const model::RunDescription& run = tree_.run;
    profile_.add_int64(kTimeNanos, static_cast<int64_t>(run.start_unix_ns));
    profile_.add_int64(kDurationNanos, static_cast<int64_t>(run.duration_ns));
    WriteComment(fmt::format("jprof {}, {}", run.jprof, run.mode));
    WriteComment(run.command);
    WriteComment(run.jvm);
    WriteComment(run.machine);
    for (const std::string& note : run.notes) WriteComment(note);
    if (tree_.measures.empty()) return;
    const model::Measure& preferred = tree_.measures[tree_.preferred];
    profile_.add_int64(kDefaultSampleType, strings_.Of(preferred.name));
    WritePeriod();
  }

  // Writes the only period that the format allows: that of the first measure that is sampled by
  // one.
  void WritePeriod() {
    const auto sampled = std::ranges::find_if(
        tree_.measures, [](const model::Measure& measure) { return measure.period > 0; });
    if (sampled == tree_.measures.end()) return;
    WriteValueType(kPeriodType, model::PeriodType(*sampled), sampled->period_unit);
    profile_.add_int64(kPeriod, sampled->period);
  }

  const model::ContextTree& tree_;
  Output& out_;
  GzipStream gzip_;
  std::string buffer_;
  pbf_writer profile_;
  StringTable strings_;
  std::vector<size_t> sums_;
  std::vector<bool> used_;                  // by frame
  std::map<uint64_t, uint64_t> locations_;  // from frame and line to the id of its location
  std::vector<uint64_t> stack_;
  std::vector<int64_t> values_;
};

}  // namespace

Result<void> WritePprof(const model::ContextTree& tree, Output& out) {
  return WriteStacks(tree, "pprof", out, [&](const model::ContextTree& stacks) {
    const auto count = static_cast<model::NodeIndex>(stacks.nodes.size());
    return PprofWriter(stacks, out).Write(std::views::iota(model::NodeIndex{0}, count));
  });
}

Result<std::vector<std::string>> PprofFiles(const model::ContextTree& tree,
                                            const PprofLimits& limits) {
  std::vector<std::string> files;
  const auto write = [&](const model::ContextTree& stacks) -> Result<void> {
    for (const std::vector<model::NodeIndex>& part : PprofParts(stacks, limits)) {
      auto file = PrintedText([&](Output& to) { return PprofWriter(stacks, to).Write(part); });
      if (!file) return std::unexpected(file.error());
      files.push_back(*std::move(file));
    }
    return {};
  };
  const auto remarks =
      PrintedText([&](Output& out) { return WriteStacks(tree, "pprof", out, write); });
  if (!remarks) return std::unexpected(remarks.error());
  return files;
}

}  // namespace jprof::reports
