#include "profile/merge/spread.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "common/write_all.h"
#include "profile/files/out_file.h"
#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

constexpr size_t kReadAtOnce = 16 << 10;          // bytes of one run
constexpr size_t kBlockValues = size_t{1} << 20;  // of all inputs and columns
constexpr size_t kBlockContexts = 1024;

Result<void> Append(int file, const std::string& name, const char* bytes, size_t count) {
  if (const int error = WriteAll(file, {bytes, count}))
    return Fail("cannot write {}: {}", name, ErrnoText(error));
  return {};
}

// Returns the range of the values of the inputs that have the context. Reorders them.
Range RangeOf(std::vector<int64_t>& values, size_t inputs) {
  values.resize(inputs);  // the others are 0
  const auto middle = values.begin() + static_cast<ptrdiff_t>((inputs - 1) / 2);
  std::ranges::nth_element(values, middle);
  return {*std::min_element(values.begin(), middle + 1), *middle,
          *std::max_element(middle, values.end())};
}

// Contains the values of some consecutive contexts in all inputs.
class Block {
 public:
  Block(size_t inputs, size_t columns, size_t contexts)
      : inputs_(inputs),
        columns_(columns),
        present_(contexts),
        values_(contexts * columns * inputs) {}

  void Clear() { std::ranges::fill(present_, 0); }
  void Add(size_t context, const int64_t* values) {
    const size_t place = present_[context]++;
    for (size_t c = 0; c < columns_; ++c)
      values_[(context * columns_ + c) * inputs_ + place] = values[c];
  }
  void Write(size_t contexts, OutFile& out) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < contexts; ++i) {
      out.Write(SpreadRecord{.inputs = present_[i]});
      for (size_t c = 0; c < columns_; ++c) {
        const int64_t* first = values_.data() + (i * columns_ + c) * inputs_;
        values.assign(first, first + present_[i]);
        out.Write(RangeOf(values, inputs_));
      }
    }
  }

 private:
  size_t inputs_, columns_;
  std::vector<uint32_t> present_;
  std::vector<int64_t> values_;  // [context][column][place]
};

}  // namespace

// Reads one run from its beginning.
class SpreadCollector::Cursor {
 public:
  Cursor(int file, Extent run, size_t entry_bytes)
      : file_(file), run_(run), entry_(entry_bytes / sizeof(int64_t)) {}

  // Returns the next entry if its context is below `limit`, or null.
  const int64_t* Next(uint64_t limit) {
    if (at_ == buffer_.size() && !Fill()) return nullptr;
    const int64_t* entry = buffer_.data() + at_;
    if (static_cast<uint64_t>(entry[0]) >= limit) return nullptr;
    at_ += entry_;
    return entry;
  }
  bool failed() const { return failed_; }

 private:
  bool Fill() {
    const size_t entry_bytes = entry_ * sizeof(int64_t);
    const uint64_t wanted = std::min<uint64_t>(
        run_.bytes, std::max<size_t>(kReadAtOnce / entry_bytes, 1) * entry_bytes);
    at_ = 0;
    buffer_.resize(wanted / sizeof(int64_t));
    for (size_t done = 0; done < wanted;) {
      const ssize_t got = pread(file_, reinterpret_cast<char*>(buffer_.data()) + done,
                                wanted - done, static_cast<off_t>(run_.offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        failed_ = true;
        run_.bytes = 0;
        buffer_.clear();
        return false;
      }
      done += static_cast<size_t>(got);
    }
    run_.offset += wanted;
    run_.bytes -= wanted;
    return wanted > 0;
  }

  int file_;
  Extent run_;    // what is still to be read
  size_t entry_;  // numbers of an entry
  std::vector<int64_t> buffer_;
  size_t at_ = 0;
  bool failed_ = false;
};

Result<void> SpreadCollector::Open(const std::string& directory, uint32_t columns) {
  columns_ = columns;
  name_ = directory + "/spread.tmp";
  file_.Reset(open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateFile));
  if (!file_) return Fail("cannot make {}: {}", name_, ErrnoText());
  unlink(name_.c_str());
  return {};
}

Result<void> SpreadCollector::Add(const SpreadRun& run) {
  constexpr size_t kAtOnce = 8192;
  std::vector<int64_t> entries;
  entries.reserve(kAtOnce * (1 + columns_));
  runs_.push_back({end_, run.contexts.size() * EntryBytes()});
  for (size_t i = 0; i < run.contexts.size(); ++i) {
    entries.push_back(run.contexts[i]);
    const auto values = run.values.begin() + static_cast<ptrdiff_t>(i * columns_);
    entries.insert(entries.end(), values, values + columns_);
    if ((i + 1) % kAtOnce != 0 && i + 1 != run.contexts.size()) continue;
    const size_t bytes = entries.size() * sizeof(int64_t);
    if (auto written =
            Append(file_.get(), name_, reinterpret_cast<const char*>(entries.data()), bytes);
        !written)
      return written;
    end_ += bytes;
    entries.clear();
  }
  return {};
}

Result<void> SpreadCollector::Write(const std::string& path, uint64_t contexts) {
  OutFile out(path);
  out.Write(SpreadHeader{
      .inputs = static_cast<uint32_t>(runs_.size()), .columns = columns_, .contexts = contexts});
  std::vector<Cursor> cursors;
  for (const Extent& run : runs_) cursors.emplace_back(file_.get(), run, EntryBytes());
  const size_t at_once =
      std::clamp<size_t>(kBlockValues / (runs_.size() * columns_), 1, kBlockContexts);
  Block block(runs_.size(), columns_, at_once);
  for (uint64_t first = 0; first < contexts && !out.failed(); first += at_once) {
    block.Clear();
    for (Cursor& cursor : cursors) {
      while (const int64_t* entry = cursor.Next(first + at_once))
        block.Add(static_cast<uint64_t>(entry[0]) - first, entry + 1);
      if (cursor.failed()) return Fail("cannot read {} again: {}", name_, ErrnoText());
    }
    block.Write(std::min<uint64_t>(at_once, contexts - first), out);
  }
  return out.Close();
}

Result<void> WriteSpread(const std::string& path, const Spread& spread) {
  OutFile out(path);
  out.Write(SpreadHeader{
      .inputs = spread.inputs, .columns = spread.columns, .contexts = spread.present.size()});
  for (size_t i = 0; i < spread.present.size(); ++i) {
    out.Write(SpreadRecord{.inputs = spread.present[i]});
    for (size_t c = 0; c < spread.columns; ++c) out.Write(spread.ranges[i * spread.columns + c]);
  }
  return out.Close();
}

Spread ReadSpread(Reader& reader, uint64_t records) {
  Spread spread;
  const ReaderFile file = reader.OpenFile(kSpreadFile);
  if (!file.exists()) return spread;
  SpreadHeader header;
  const SpreadHeader expected;
  const size_t columns = 1 + reader.meta().metrics.size();
  if (file.ReadAt(0, &header, sizeof header) < sizeof header ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.version != expected.version || header.columns != columns || header.inputs == 0) {
    reader.damages().Add("spread: does not belong to this profile: left out");
    return spread;
  }
  const size_t bytes = sizeof(SpreadRecord) + columns * sizeof(Range);
  const uint64_t contexts =
      std::min({header.contexts, (file.size() - sizeof header) / bytes, records});
  if (contexts < header.contexts) {
    reader.damages().Add("spread: the values of some contexts are missing, or the tree is cut off",
                         fmt::format("{} of {} are used", contexts, header.contexts));
  }
  spread.inputs = header.inputs;
  spread.columns = header.columns;
  std::vector<char> chunk(bytes * std::min<uint64_t>(contexts, 4096));
  for (uint64_t done = 0; done < contexts;) {
    const uint64_t wanted = std::min<uint64_t>(contexts - done, chunk.size() / bytes);
    const size_t got =
        file.ReadAt(sizeof header + done * bytes, chunk.data(), wanted * bytes) / bytes;
    for (size_t i = 0; i < got; ++i) {
      SpreadRecord record;
      std::memcpy(&record, chunk.data() + i * bytes, sizeof record);
      spread.present.push_back(record.inputs);
      for (size_t c = 0; c < columns; ++c) {
        Range range;
        std::memcpy(&range, chunk.data() + i * bytes + sizeof record + c * sizeof range,
                    sizeof range);
        spread.ranges.push_back(range);
      }
    }
    if (got < wanted) break;
    done += got;
  }
  return spread;
}

}  // namespace jprof::profile
