// Puts counters into the methods of a class file. It maps bytes to bytes and uses no JVM.
//
// A method that is counted calls the static methods of java/lang/JprofCounter:
//   long node = enter(id);   at its entry; the value is kept in a new local variable
//   exit(node);              before each return instruction; jumps to the return lead to this call
//   caught(node, id);        at each exception handler
// A stack overflow in `exit` or `caught` does not leave the method, which continues without the
// call. The returns of methods that neither call others nor catch exceptions are not guarded in
// this way. A method that is announced calls announce() before each return, nothing else.
//
// If `Decision::leaves` is set, a counted method that can run no code but its own (leaf_method.h)
// calls only
//   leaf(id);                at its entry; its caller's node stays the current one
//
// If `Decision::locks` is set, a counted method also calls those of java/lang/JprofLocks:
//   ask(object);             before each monitorenter
//   release(object);         before each monitorexit
//   enter(object, node);     at the entry of a synchronized method, which has its monitor then
//   leave(node);             before each return of it, and where an exception leaves it
//   ends();                  at the entry of Thread.exit, which the VM calls
// A static synchronized method of a class file below version 49 calls neither of the last two,
// because such code cannot load its class.
//
// The methods of lock_methods.h call those of java/lang/JprofConcurrent:
//   ask(this, what);             at the entry of a method that takes a lock
//   taken(result, this, what);   before its returns; `result` is 1 if it returns none
//   failed(what);                where an exception leaves it
//   release(this, what);         at the entry of one that releases a lock
//   parks(); reacquires();       at the entry of one that waits
//
// If `Decision::allocations` is set, a counted method also tells JprofCounter what it asks for,
// before each instruction that allocates. The ids are those of classes:
//   asked(id);               before new, newarray, anewarray, and multianewarray for all of it
//   asked(number, id);       before multianewarray, for the arrays of each further dimension
//   askedBox(value, id);     before calls of the methods valueOf that box a number in an object
//
// If `Decision::sites` is set, a counted method also tells JprofCounter where it calls. The ids are
// those of sites:
//   long own = current();    after enter(id); the value is kept in a new local variable
//   site(own, id);           before each instruction that calls a method, except the constructor of
//                            Object, which the VM replaces
// If the method would become too large, sites and then allocations are left out.
//
// If there is a `Decision::label`, the method sets a label at its entry, after enter(id), or ends
// the one that its caller has set if it is not counted:
//   label(text);             the text of a local variable, or null to end the label
//   labelOf(object);         an object whose text it is
//   labelNumber(number);     a whole number whose digits are the text
//
// If `Decision::answers` is set, the method begins with a call of answer(this, name) and
// returns the result unless it is null. It is meant for ClassLoader.loadClass(String) and its
// overrides.
//
// - Any bytes may be given: the result is an error or a class file, and nothing is thrown
//   but std::bad_alloc.
// - The time is proportional to the size of the class file, and below a second for the largest.
// - The same input and decisions give the same bytes.
// - It may be called from any thread; there is no state between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::weave {

// The classes whose methods are called, and the versions of class files that are woven: those of
// JDK 1.0.2 to 25 and, untested, the next two. New versions rarely change code.
inline constexpr std::string_view kCounterClass = "java/lang/JprofCounter";
inline constexpr std::string_view kLocksClass = "java/lang/JprofLocks";
inline constexpr std::string_view kConcurrentClass = "java/lang/JprofConcurrent";
// The class that the counter uses for labels, the one that the two for locks use, and what the
// names of all of them begin with.
inline constexpr std::string_view kLabelsClass = "java/lang/JprofLabels";
inline constexpr std::string_view kHeldClass = "java/lang/JprofHeld";
inline constexpr std::string_view kOwnClasses = "java/lang/Jprof";
inline constexpr uint16_t kOldestVersion = 45;
inline constexpr uint16_t kNewestVersion = 69 + 2;

// Class files with more bytes are refused. No compiler makes them: Java's largest have a few MiB.
inline constexpr size_t kLargestClassFile = size_t{16} << 20;

inline constexpr uint16_t kStatic = 0x0008;
inline constexpr uint16_t kSynchronized = 0x0020;

// A method with code, as its class file describes it. The texts are in modified UTF-8 and refer to
// the class file.
struct Method {
  std::string_view class_name;  // for example java/lang/String
  std::string_view name;
  std::string_view descriptor;
  uint16_t access = 0;
  uint32_t code_bytes = 0;
  // Is true if the method is annotated with jdk.internal.vm.annotation.IntrinsicCandidate
  // (JDK 16 and later) or HotSpotIntrinsicCandidate (9 to 15): the VM may replace calls of it
  // by instructions.
  bool is_intrinsic = false;

  bool IsStatic() const { return (access & kStatic) != 0; }
};

enum class Action : uint8_t { kLeave, kCount, kAnnounce };

// States what a label is made from: nothing, which ends the one that is set; or a local variable
// that contains a String, another object, an int (as also byte and short are) or a long.
enum class LabelSource : uint8_t { kNothing, kText, kObject, kNumber, kLongNumber };
struct LabelAtEntry {
  LabelSource source = LabelSource::kNothing;
  uint16_t local = 0;
};

struct Decision {
  Action action = Action::kLeave;
  uint32_t id = 0;  // of a counted method; below 2^31 and different for each method of the class
  bool answers = false;      // requires an instance method with the descriptor of loadClass
  bool leaves = false;       // no effect with a label, locks or allocations
  bool locks = false;        // requires a counted method
  bool allocations = false;  // requires a counted method, and ids of classes
  bool sites = false;        // requires a counted method, and ids of sites
  std::optional<LabelAtEntry> label = {};
};

// Decides what happens to a method. It is called once for each method with code, in the order
// of the class file.
using Decide = std::function<Decision(const Method&)>;

// Returns the id of a class, which is given as in the constant pool: java/lang/String or [I. It is
// below 2^31.
using ClassIds = std::function<uint32_t(std::string_view class_name)>;
// Returns the id of a site, which is given by the offset of its instruction in the code that is
// woven and by its source line, 0 if that is not known. It is below 2^31.
using SiteIds = std::function<uint32_t(uint32_t bci, uint32_t line)>;
struct Ids {
  ClassIds of_class;  // null if no decision requires them
  SiteIds of_site;
};

// States why a method that was to be changed is as before.
enum class SkipReason : uint8_t {
  kTooLarge,          // its code, stack, local variables or handlers would exceed 65535, or the
                      // class 64 MiB by its frames
  kNotCompiled,       // its code would exceed 8000 bytes: HotSpot would no longer compile it
  kJumpTooFar,        // a jump would exceed 16 bits
  kConstantPoolFull,  // the constants that it needs do not fit
  kEmptyFinalizer,    // finalize() with nothing in it: HotSpot runs a finalizer for each object of
                      // the class if there is anything, and Object has such a method
};
inline constexpr size_t kSkipReasons = 5;
std::string_view NameOf(SkipReason reason);

struct SkippedMethod {
  std::string_view name;  // these two refer to the class file
  std::string_view descriptor;
  uint32_t id = 0;
  SkipReason why = SkipReason::kTooLarge;
};

struct Woven {
  std::string_view class_name;  // refers to the class file
  std::vector<uint8_t> bytes;   // empty if nothing was changed
  uint32_t counted = 0;
  uint32_t announced = 0;
  uint32_t without_sites = 0;  // counted methods that would become too large with their sites
  std::vector<SkippedMethod> skipped;
};

Result<Woven> Weave(std::span<const uint8_t> class_file, const Decide& decide, const Ids& ids = {});

}  // namespace jprof::weave
