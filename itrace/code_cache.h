// The translations of one thread, in scratch memory that the thread has mapped: a data area below
// 2 GiB and areas of code, each near the code it was translated from. The thread is stopped during
// every call.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "itrace/data_area.h"
#include "itrace/tracee.h"
#include "itrace/translator.h"

namespace jprof::itrace {

class CodeCache {
 public:
  CodeCache(Tracee& tracee, pid_t tid, const TranslatorOptions& options);
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;

  // Has the thread map the scratch memory near the code that it executes, which is at `near`.
  Result<void> Map(uint64_t near);
  void Unmap();
  // Forgets the memory, which does not exist any more (exec).
  void Forget();

  // Returns where the translation of the code at `original` begins, and makes it if there is none.
  // Returns 0 if the instruction there has to be executed in place.
  uint64_t Enter(uint64_t original);
  // Does the same, and indirect branches find it from now on.
  uint64_t EnterIndirect(uint64_t original);
  // Makes an exit lead to the translation at `entry`.
  void Link(const Translation& from, uint32_t exit, uint64_t entry);
  // Returns a new translation in place of one whose original has changed.
  uint64_t Renew(const Translation& old);
  // Drops all translations. The ring must be empty.
  void Flush();

  bool Contains(uint64_t address) const;  // in an area of code
  const Translation* Find(uint64_t address) const;
  static const CodePoint* PointAt(const Translation& translation, uint64_t address);
  static const CodeTrap* TrapAt(const Translation& translation, uint64_t address);
  bool IsMiss(uint64_t address) const { return address == miss_; }  // of an indirect branch
  bool InGuard(uint64_t address) const;
  // Returns whether code in [start, end) was translated without checks.
  bool Touches(uint64_t start, uint64_t end) const;

  // Adds a place where translations trap. Those that exist already are made again.
  void AddStop(uint64_t original);
  bool IsStop(uint64_t original) const { return stops_.contains(original); }
  void ClearStops();

  bool mapped() const { return data_ != nullptr; }
  bool worn() const;  // so full that it should be flushed
  DataArea& data() { return *data_; }
  const DataArea& data() const { return *data_; }
  uint64_t ring_start() const { return place_ + offsetof(DataArea, entries); }
  uint64_t ring_end() const { return ring_start() + kRingBytes; }
  const CodeExit& exit(uint32_t number) const { return exits_[number]; }
  uint32_t exits() const { return static_cast<uint32_t>(exits_.size()); }
  uint64_t translations() const { return translated_; }
  uint64_t flushes() const { return flushes_; }

 private:
  struct Area {
    uint64_t start = 0, used = 0;
  };
  struct Waiting {
    const Translation* from;
    uint32_t exit;
  };

  Result<void> MapData(uint64_t name);
  Area* NewArea(uint64_t near);
  Area* AreaFor(uint64_t original, uint64_t bytes);
  uint64_t Take(Area& area, uint64_t bytes);
  const Translation* Make(uint64_t original);
  void MakeAhead(const Translation& first);
  void AddToTable(const Translation& translation);
  Translation TranslateAt(uint64_t original, Area& area);
  void LinkNew(Translation& made);
  uint64_t JumpTarget(uint64_t jump, uint64_t target);
  void ResetTable();

  Tracee& tracee_;
  const pid_t tid_;
  const TranslatorOptions options_;
  uint64_t place_ = 0;  // of the data area in the thread's address space
  DataArea* data_ = nullptr;
  std::vector<Area> areas_;
  uint64_t miss_ = 0;
  std::map<uint64_t, std::unique_ptr<Translation>> by_place_;
  std::unordered_map<uint64_t, const Translation*> by_start_;
  std::unordered_set<uint64_t> indirect_;
  std::unordered_map<uint64_t, std::vector<Waiting>> waiting_;  // by target
  std::vector<CodeExit> exits_;                                 // by number
  std::set<uint64_t> pages_;                                    // with code that is not checked
  std::set<uint64_t> stops_;
  uint64_t translated_ = 0, flushes_ = 0;
};

}  // namespace jprof::itrace
