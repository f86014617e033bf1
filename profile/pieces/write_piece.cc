#include "profile/pieces/write_piece.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "common/utc_text.h"
#include "profile/files/file_list.h"
#include "profile/files/whole_file.h"
#include "profile/merge/merged_control.h"
#include "profile/merge/merged_distributions.h"
#include "profile/merge/merged_tree.h"

namespace jprof::profile {
namespace {

constexpr int kReadings = 5;  // at most, while the types of methods change

struct Opened {
  Reader reader;
  CallTree tree;
};

// Reads the part of the tree that did something. A method whose type changes after the snapshot has
// a new record, which gets what the snapshot counted for its node: the tree is read again then.
Result<Opened> ReadWindow(const PieceRequest& request, const std::shared_ptr<Window>& window) {
  if (request.settle) request.settle(window->nodes);
  for (int reading = 1;; ++reading) {
    auto reader = Reader::Open(request.profile);
    if (!reader) return std::unexpected(reader.error());
    reader->Restrict(window);
    auto tree = reader->ReadTree(ReadingMemory(), Sites::kNodes);
    if (!tree) return std::unexpected(tree.error());
    const bool changed = request.settle && request.settle(window->nodes);
    if (!changed || reading == kReadings) return Opened{*std::move(reader), *std::move(tree)};
  }
}

ControlHeader HeaderOf(const Reader& reader, bool finished) {
  ControlHeader header = reader.header();
  header.finished = finished ? 1 : 0;
  return header;
}

// Returns what a thread has in the piece, or nothing if it did not live then.
std::optional<ThreadRecord> RecordOf(const Window& window, size_t thread, bool has_counts) {
  if (thread >= window.end_threads.size()) return std::nullopt;  // it is newer
  const ThreadRecord& end = window.end_threads[thread];
  if (end.state == kThreadUnused || (end.flags & kThreadFiltered) != 0) return std::nullopt;
  const bool was_over = end.state == kThreadEnded && thread < window.begin_threads.size() &&
                        window.begin_threads[thread].state == kThreadEnded;
  if (was_over && !has_counts) return std::nullopt;
  return RecordIn(window, thread, end);
}

// Adds the threads of the piece. Returns the context of each, and kNoRecord for those that are not
// in it.
std::vector<uint32_t> AddThreads(const Opened& opened, const ControlHeader& header,
                                 MergedControl& control, MergedTree& merged) {
  const auto& threads = opened.reader.threads();
  std::vector<uint8_t> has_counts(threads.size());
  for (size_t i = 0; i < opened.tree.size(); ++i)
    if (opened.tree.parent[i] == kNoRecord) has_counts[IndexOf(opened.tree.thread[i])] = 1;
  std::vector<uint32_t> roots;
  for (size_t i = 0; i < threads.size(); ++i) {
    auto record = RecordOf(*opened.reader.window(), i, has_counts[i] != 0);
    // What was counted has a thread, whatever its record says.
    if (!record && has_counts[i] != 0) record = threads[i].record;
    if (record && record->state != kThreadEnded) record->end_ticks = header.end_ticks;
    roots.push_back(record ? control.AddThread(threads[i].name, *record, header, 1, merged)
                           : kNoRecord);
  }
  return roots;
}

std::vector<std::string> LeftOut(const PieceRequest& request, const Reader& reader) {
  std::vector<std::string> left_out;
  if (request.partial) {
    left_out.emplace_back(
        "the time at which some contexts were counted: there was no memory to compare them, and "
        "the last piece has their counts");
  }
  if (!reader.meta().options.distribution.empty())
    left_out.emplace_back("how long single calls took (--distribution)");
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::path(request.profile) / kEventsFolder, ignored))
    left_out.emplace_back("the events of the JVM");
  if (std::filesystem::exists(std::filesystem::path(request.profile) / kJitLogFile, ignored))
    left_out.emplace_back("the log of jitted code");
  return left_out;
}

Meta MetaOf(const PieceRequest& request, const Reader& reader) {
  Meta meta = reader.meta();
  const Window& window = *reader.window();
  meta.start = UtcText(static_cast<time_t>(reader.header().start_unix_ns / 1'000'000'000));
  meta.piece = {.number = request.number,
                .of = request.of,
                .begin_s = static_cast<double>(window.begin_ns) / 1e9,
                .end_s = static_cast<double>(window.end_ns) / 1e9,
                .left_out = LeftOut(request, reader)};
  meta.options.distribution.clear();
  return meta;
}

}  // namespace

Result<void> WritePiece(const PieceRequest& request, const std::shared_ptr<Window>& window) {
  auto opened = ReadWindow(request, window);
  if (!opened) return std::unexpected(opened.error());
  Reader& reader = opened->reader;
  const Meta& meta = reader.meta();
  const ControlHeader header = HeaderOf(reader, request.finished);
  MergedTree merged(meta.metrics.size(), meta.is(Mode::kScs), meta.options.sites,
                    ClassNames::kExact);
  MergedControl control(MergeThreads::kKeep, header, meta.metrics.size());
  control.AddHeader(header, 1);
  const std::vector<uint32_t> roots = AddThreads(*opened, header, control, merged);
  SpreadRun unused;
  const std::vector<double> factors(meta.metrics.size(), 1.0);
  const auto added = merged.Add(opened->tree, reader.ReadMethods(), roots, factors, unused);
  if (!added) return std::unexpected(added.error());
  const auto written = merged.Write(request.directory);
  if (!written) return std::unexpected(written.error());
  auto done = control.Write(request.directory, *written, {});
  if (done)
    done = WriteWholeFile(request.directory + "/" + kMetaFile, ToJson(MetaOf(request, reader)));
  return done;
}

}  // namespace jprof::profile
