// Caches the decoding of return addresses in compiled methods for all threads: the size of the
// frame, the methods that are inlined there, and their method references (FrameNames).
//
// An entry is invalid once its code was freed and replaced by other code. Every compilation has an
// id in the header of the code: the caller of Find must compare it before it uses an entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "jprof/hotspot/walk/stack_frame.h"
#include "jprof/unwind/pc_table.h"

namespace jprof::hotspot {

class ReturnSites {
 public:
  struct Code {
    uint32_t header_distance = 0;  // from the header of the code to the return address
    int32_t compile_id = 0;
    uint32_t frame_words = 0;
  };

  // Sets the code, and its frames in `out`, innermost first. Returns the number of frames, or 0 if
  // it is unknown; the contents of `out` are then invalid.
  uint32_t Find(uint64_t pc, Code* code, std::span<StackFrame> out) const {
    uint32_t total = 0, done = 0;
    FrameKind own = FrameKind::kNone;
    const auto take = [&](const Site& site) {
      if (done == 0) {
        *code = site.code;
        total = site.count;
        own = site.own;
      } else if (site.code.compile_id != code->compile_id || site.count != total) {
        return false;
      }
      const uint32_t some = std::min(total - done, kInOne);
      if (total == 0 || total > kMost || total > out.size()) return false;
      for (uint32_t i = 0; i < some; ++i) out[done + i] = site.scopes[i].Frame(pc);
      return true;
    };
    do {
      if (!table_.Read(pc | uint64_t{done} << kPartShift, take)) return 0;
      done += kInOne;
    } while (done < total);
    for (uint32_t i = 0; i + 1 < total; ++i) out[i].type = FrameKind::kInlined;
    out[total - 1].type = own;
    return total;
  }
  bool Has(uint64_t pc) const {
    return table_.Read(pc, [](const Site&) { return true; });
  }

  // Adds a result, unless it cannot be represented.
  void Add(uint64_t pc, const Code& code, std::span<const StackFrame> frames) {
    if (frames.empty() || frames.size() > kMost || pc >> kPartShift != 0) return;
    for (const StackFrame& frame : frames) {
      const bool is_own = &frame == &frames.back();
      if (frame.bci >= kNoBci || frame.method >> 48 != 0) return;
      if (is_own ? frame.type == FrameKind::kInlined : frame.type != FrameKind::kInlined) return;
    }
    for (uint32_t done = 0; done < frames.size(); done += kInOne) {
      Site site = {code, static_cast<uint16_t>(frames.size()), frames.back().type, {}};
      const auto some = frames.subspan(done, std::min<size_t>(frames.size() - done, kInOne));
      for (size_t i = 0; i < some.size(); ++i) site.scopes[i] = Scope(some[i]);
      table_.Add(pc | uint64_t{done} << kPartShift, site);
    }
  }

 private:
  static constexpr uint16_t kNoBci = 0xffff;  // code ends before this
  struct Scope {
    uint32_t method_low = 0;
    uint16_t method_high = 0, bci = 0;
    profile::MethodRef ref{};

    Scope() = default;
    explicit Scope(const StackFrame& frame)
        : method_low(static_cast<uint32_t>(frame.method)),
          method_high(static_cast<uint16_t>(frame.method >> 32)),
          bci(static_cast<uint16_t>(frame.bci)),
          ref(frame.ref) {}
    StackFrame Frame(uint64_t pc) const {
      return {.bci = bci == kNoBci ? -1 : bci,
              .method = uint64_t{method_high} << 32 | method_low,
              .pc = pc,
              .ref = ref};
    }
  };
  static constexpr uint32_t kInOne = 8, kMost = 32;
  static constexpr int kPartShift = 48;  // position of the first scope's index in a key
  struct Site {
    Code code;
    uint16_t count = 0;
    FrameKind own = FrameKind::kNone;
    Scope scopes[kInOne];
  };
  static_assert(sizeof(Site) == 112);  // two cache lines with the table's own words

  unwind::PcTable<Site, 15> table_;
};

}  // namespace jprof::hotspot
