// Describes the layout of the parts of a compiled method (an nmethod) that jprof reads.
//
// Up to JDK 22 all of it is in the code cache, in one block; from 23 on the debug information and
// the metadata are in the C heap. Once constructed, the objects can be used in a signal handler.
#pragma once

#include <cstdint>
#include <variant>

#include "jprof/hotspot/vm/code_cache.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

// Determines which compiler generated an nmethod.
class CompilerLevel {
 public:
  static constexpr int kFirstOfC2 = 4;

  explicit CompilerLevel(Fields& field);
  // Returns the level of the nmethod with this header: 1 to 4; 0 if it calls a native method.
  int Of(const MemoryReader& memory, uint64_t header) const;
  // Returns whether C2 has compiled it.
  bool IsC2(const MemoryReader& memory, uint64_t header) const {
    return Of(memory, header) >= kFirstOfC2;
  }

 private:
  int64_t level_;
  bool is_byte_;
};

// The location of the scopes of a compiled method.
struct DebugInformation {
  uint64_t pcs = 0, pc_count = 0;
  uint64_t scopes = 0, scopes_size = 0;
  uint64_t metadata = 0, metadata_count = 0;
};

class NmethodLayout {
 public:
  explicit NmethodLayout(Fields& field);

  uint64_t MethodOf(const MemoryReader& memory, const CodeBlob& nmethod) const {
    return memory.At<uint64_t>(nmethod.header + method_);
  }
  bool IsC2(const MemoryReader& memory, const CodeBlob& nmethod) const {
    return level_.IsC2(memory, nmethod.header);
  }
  // Returns the id of a compilation; each has its own. `header` may be anywhere in the code cache,
  // and not an nmethod.
  int32_t CompileId(const MemoryReader& memory, uint64_t header) const {
    return memory.At<int32_t>(header + compile_id_);
  }
  // Finds the scopes. Returns false if the data is invalid.
  bool DebugOf(const MemoryReader& memory, const CodeBlob& nmethod, DebugInformation* debug) const;
  // IsDeoptHandler returns whether pc is the address that replaced a deoptimised frame's return
  // address. DeoptimisedPc returns the original one, or 0 if there is none.
  bool IsDeoptHandler(const MemoryReader& memory, const CodeBlob& nmethod, uint64_t pc) const;
  uint64_t DeoptimisedPc(const MemoryReader& memory, const CodeBlob& nmethod, uint64_t pc,
                         uint64_t sp) const;

 private:
  struct Ranges {
    uint64_t pcs, pcs_end, scopes, scopes_end, metadata, metadata_end;
  };
  // The layout up to JDK 22.
  struct InCodeCache {
    explicit InCodeCache(Fields& field);
    bool Find(const MemoryReader& memory, const CodeBlob& nmethod, int64_t pcs, Ranges* out) const;
    bool IsDeoptHandler(const MemoryReader& memory, uint64_t header, uint64_t pc) const;

    int64_t scopes, dependencies, metadata;
    int64_t deopt, deopt_mh;  // deopt_mh is -1 if there is none
  };
  // The layout from JDK 23 on.
  struct InHeap {
    explicit InHeap(Fields& field);
    bool Find(const MemoryReader& memory, const CodeBlob& nmethod, int64_t pcs, Ranges* out) const;
    bool IsDeoptHandler(const MemoryReader& memory, uint64_t header, uint64_t pc) const;

    int64_t immutable, immutable_size, scopes;
    int64_t mutable_data, mutable_size, relocation_size;  // offsets in the CodeBlob
    int64_t deopt, deopt_mh;                              // deopt_mh is -1 if there is none
  };
  using Place = std::variant<InCodeCache, InHeap>;
  static Place PlaceIn(Fields& field);

  int64_t method_, pcs_, original_pc_, compile_id_;
  CompilerLevel level_;
  Place place_;
};

}  // namespace jprof::hotspot
