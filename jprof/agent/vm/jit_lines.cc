#include "jprof/agent/vm/jit_lines.h"

#include <jvmticmlr.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace jprof::agent {
namespace {

using profile::JitCode;
using profile::JitLine;

// Finds source lines by bytecode index. Valid for one event only: the VM reuses method ids after
// classes are unloaded, and redefinition changes lines.
class SourceLines {
 public:
  explicit SourceLines(jvmtiEnv* jvmti) : jvmti_(jvmti) {}

  // Returns 0 if the line is unknown. Index -1 is the entry of a method, before its first bytecode.
  uint32_t At(jmethodID method, jlocation bytecode) {
    if (bytecode == -1) bytecode = 0;
    if (method == nullptr || bytecode < 0) return 0;
    const Table& table = TableOf(method);
    const auto after = std::ranges::upper_bound(table, bytecode, {}, &Line::first);
    return after == table.begin() ? 0 : std::prev(after)->second;
  }

 private:
  using Line = std::pair<jlocation, uint32_t>;
  using Table = std::vector<Line>;

  const Table& TableOf(jmethodID method) {
    const auto [entry, is_new] = tables_.try_emplace(method);
    jint count = 0;
    jvmtiLineNumberEntry* lines = nullptr;
    if (is_new && jvmti_->GetLineNumberTable(method, &count, &lines) == JVMTI_ERROR_NONE) {
      for (jint i = 0; i < count; ++i) {
        entry->second.emplace_back(lines[i].start_location,
                                   static_cast<uint32_t>(lines[i].line_number));
      }
      std::ranges::sort(entry->second);
      jvmti_->Deallocate(reinterpret_cast<unsigned char*>(lines));
    }
    return entry->second;
  }

  jvmtiEnv* jvmti_;
  std::unordered_map<jmethodID, Table> tables_;
};

// Collects the lines of ranges of code. HotSpot describes a location in code by the address after
// it (for a call, its return address). So each description is valid from the address of the
// previous one up to its own.
class LineRanges {
 public:
  LineRanges(uint64_t begin, uint32_t length) : begin_(begin), length_(length) {}

  // Requires ascending addresses.
  void Add(const void* address, uint32_t line, uint32_t own_line) {
    const uint64_t offset = reinterpret_cast<uint64_t>(address) - begin_;
    if (offset <= end_ || offset > length_) return;
    if (lines_.empty() || lines_.back().line != line || lines_.back().own_line != own_line) {
      lines_.push_back({end_, line, own_line});
    }
    end_ = static_cast<uint32_t>(offset);
  }

  // Returns the lines. Code after the last description (exception and deoptimization stubs) has
  // none.
  std::vector<JitLine> Take() {
    if (!lines_.empty() && end_ < length_) lines_.push_back({end_, 0, 0});
    return std::move(lines_);
  }

 private:
  uint64_t begin_;
  uint32_t length_;
  uint32_t end_ = 0;
  std::vector<JitLine> lines_;
};

// Returns HotSpot's record of the inlined methods at each location, innermost first, or null if
// there is none.
const jvmtiCompiledMethodLoadInlineRecord* InlineRecord(const void* compile_info) {
  auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
  for (; header != nullptr; header = header->next) {
    if (header->kind == JVMTI_CMLR_INLINE_INFO &&
        header->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1) {
      return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    }
  }
  return nullptr;
}

}  // namespace

std::vector<JitLine> LinesOf(jvmtiEnv* jvmti, jmethodID method, const JitCode& code,
                             std::span<const jvmtiAddrLocationMap> map, const void* compile_info) {
  SourceLines source(jvmti);
  LineRanges ranges(code.address, code.length);
  if (const auto* inlined = InlineRecord(compile_info); inlined != nullptr && inlined->numpcs > 0) {
    for (const PCStackInfo& place : std::span(inlined->pcinfo, inlined->numpcs)) {
      if (place.numstackframes < 1) continue;
      const jint last = place.numstackframes - 1;
      ranges.Add(place.pc, source.At(place.methods[0], place.bcis[0]),
                 source.At(place.methods[last], place.bcis[last]));
    }
  } else {
    for (const jvmtiAddrLocationMap& place : map) {
      const uint32_t line = source.At(method, place.location);
      ranges.Add(place.start_address, line, line);
    }
  }
  return ranges.Take();
}

}  // namespace jprof::agent
