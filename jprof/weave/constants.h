// Appends constants to the pool of a class file.
//
// Each method returns the index of the constant, which it appends if necessary, or 0 if the pool is
// full. Constants that were appended before that remain and do no harm.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"

namespace jprof::weave {

enum class CounterMethod : uint8_t {
  kEnter,
  kExit,
  kCaught,
  kAnnounce,
  kAnswer,
  kAsk,  // this and those below are methods of kLocksClass
  kRelease,
  kEnterLocked,
  kLeaveLocked,
  kEnds,
  kAsked,  // this and those below are methods of kCounterClass
  kAskedMany,
  kAskedBox,
  kAskedLongBox,
  kCurrent,
  kSite,
  kAskFor,  // this and those below are methods of kConcurrentClass
  kTaken,
  kFailed,
  kReleaseLock,
  kParks,
  kReacquires,
  kLabel,  // this and those below are methods of kCounterClass
  kLabelOf,
  kLabelNumber,
  kLeaf,
};
inline constexpr size_t kCounterMethods = 26;

class Constants {
 public:
  explicit Constants(const ConstantPool& pool) : pool_(pool), count_(pool.count()) {}

  uint16_t MethodOf(CounterMethod method);
  // Returns the index of the text StackMapTable.
  uint16_t FramesName();
  // Returns the index of a number. The last one is remembered: the same value in succession is
  // one constant.
  uint16_t Integer(uint32_t value);
  // Returns the index of a class. A class of the pool is used if it has this name, which must
  // remain valid as long as this object.
  uint16_t Class(std::string_view name);

  uint32_t count() const { return count_; }  // size of the whole pool, as the class file states it
  uint32_t left() const { return kMostEntries - count_; }
  std::string_view appended() const { return appended_.view(); }

 private:
  static constexpr uint32_t kMostEntries = 65535;
  struct NamedClass {
    std::string_view name;
    uint16_t index = 0;  // 0 if free
  };

  uint16_t Append(uint8_t tag);
  uint16_t AppendUtf8(std::string_view text);
  void IndexClasses();
  void Remember(std::string_view name, uint16_t index);
  NamedClass& Find(std::string_view name);

  const ConstantPool& pool_;
  uint32_t count_;
  Output appended_;
  std::array<uint16_t, kCounterMethods> methods_{};
  uint16_t frames_name_ = 0;
  uint16_t last_integer_ = 0;
  uint32_t last_value_ = 0;
  std::vector<NamedClass> classes_;  // hash table, at most half full; empty until it is made
  size_t class_count_ = 0;
};

}  // namespace jprof::weave
