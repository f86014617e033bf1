// Finds the function to which an address of an instruction trace belongs at a time. It is made for
// many millions of lookups of few addresses: a2n is asked once for each piece of code.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/span_index.h"
#include "model/itrace/arc_model.h"
#include "model/ticks/recording.h"
#include "model/tree/readable_name.h"

namespace jprof::model {

// The code of one name in one module. All versions of a jitted method are one function.
struct ArcFunction {
  std::string module;  // the path, or "JITCODE"
  std::string symbol;  // empty for all code of the module that no symbol covers
  std::string name;    // as reports print it, "libc.so.6.malloc" or "pkg/Class.method(sig)ret"
  char letter = 'F';   // as reports print it; R if any version of a method has it

  // Returns "F:libc.so.6.malloc", "J:p.A.m(int)" or "(signal)": Java methods are in the form.
  std::string Marked(NameForm form) const;
};

// One piece of a function's code, which is at [start, end). Code that no symbol covers has a piece
// for each address.
struct CodePiece {
  uint32_t pid = 0, function = 0;
  uint64_t start = 0, end = 0;
  uint64_t from = 0, until = a2n::kForever;  // it is there during [from, until)
  uint64_t time = 0;                         // a time at which a2n knows it
  CodeAt at = {};
  const a2n::JittedCode* jitted = nullptr;
};

class ArcCode {
 public:
  // `resolver` must outlive this object. `changes` lists when the code at an address may change.
  ArcCode(a2n::Resolver& resolver, std::span<const CodeChange> changes);

  CodeAt At(uint32_t pid, uint64_t address, uint64_t time);
  uint32_t PieceAt(uint32_t pid, uint64_t address, uint64_t time);  // index into pieces()

  const std::vector<ArcFunction>& functions() const { return functions_; }  // by number
  const std::vector<CodePiece>& pieces() const { return pieces_; }
  bool IsUnnamed(uint32_t function) const { return functions_[function].symbol.empty(); }

 private:
  // Finds changes by address and time. In `next` and `next_code`, times are mirrored (the distance
  // from the end), so that a search finds the next change.
  struct ChangeIndex {
    a2n::SpanIndex past, next, next_code;
    void Add(const CodeChange& change);
  };
  struct Process {
    FlatMap pieces;  // address -> the piece that it was last in
    std::vector<CodeChange> changes;
    ChangeIndex index;
    std::map<uint64_t, std::vector<uint32_t>> by_start;
  };

  Process& ProcessOf(uint32_t pid);
  static void Limit(const Process& process, CodePiece& piece);
  uint32_t Find(Process& process, uint32_t pid, uint64_t address, uint64_t time);
  std::pair<a2n::Place, uint64_t> Resolve(const Process& process, uint32_t pid, uint64_t address,
                                          uint64_t time);
  uint32_t FunctionOf(const a2n::Place& place, CodeAt::Kind kind);
  CodeAt Describe(const a2n::Place& place);

  a2n::Resolver& resolver_;
  std::vector<ArcFunction> functions_;
  std::vector<CodePiece> pieces_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of functions, by module and symbol
  std::unordered_map<std::string, uint32_t> modules_;
  std::unordered_map<uint32_t, Process> processes_;
  uint32_t last_pid_ = 0;
  Process* last_ = nullptr;
};

}  // namespace jprof::model
