#include "jprof/hotspot/objects/allocation_probe.h"

#include <cerrno>

#include "common/errno_text.h"
#include "jprof/hotspot/objects/allocation_handlers.h"
#include "jprof/hotspot/vm/code_patch.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {
namespace {

constexpr std::string_view kFunction = "_ZN13SharedRuntime19dtrace_object_allocE";
constexpr std::string_view kBase = "_ZN13SharedRuntime24dtrace_object_alloc_baseE";
constexpr char kFlag[] = "DTraceAllocProbes";

}  // namespace

// Before JDK 21 the size is an int, which compiled code does not pass.
std::optional<AllocationArguments> ArgumentsOf(std::string_view mangled) {
  const bool is_base = mangled.starts_with(kBase);
  if (!is_base && !mangled.starts_with(kFunction)) return std::nullopt;
  mangled.remove_prefix(is_base ? kBase.size() : kFunction.size());
  if (mangled == "P7oopDesc" || mangled == "P7oopDesci") return AllocationArguments{};
  for (const std::string_view thread : {"P6Thread", "P10JavaThread"}) {
    if (!mangled.starts_with(thread)) continue;
    const std::string_view rest = mangled.substr(thread.size());
    if (rest == "P7oopDesc" || rest == "P7oopDesci") return AllocationArguments{.has_thread = true};
    if (rest == "P7oopDescm") return AllocationArguments{.has_thread = true, .has_size = true};
  }
  return std::nullopt;
}

Result<AllocationProbe> AllocationProbe::Find(const LibjvmImage& image, const VmStructs& structs) {
  auto layout = ObjectLayout::Open(structs);
  if (!layout) return std::unexpected(layout.error());
  AllocationProbe probe(*layout);
  for (const std::string_view prefix : {kFunction, kBase}) {
    for (const auto& symbol : image.Symbols(prefix)) {
      const auto arguments = ArgumentsOf(symbol.name);
      if (!arguments || symbol.code.bytes < kJumpBytes)
        return Fail("{} has an unknown allocation probe, {}", image.path(), symbol.name);
      probe.targets_.push_back({symbol.code.begin, *arguments});
    }
  }
  if (probe.targets_.empty())
    return Fail("{} has no symbols for its allocation probe", image.path());
  probe.flag_ = Vm::Flag(structs, kFlag);
  if (probe.flag_ == nullptr) return Fail("this JVM has no flag {}", kFlag);
  return probe;
}

Result<void> AllocationProbe::RedirectAll(
    const std::function<uint64_t(const AllocationArguments&)>& to) const {
  for (const Target& target : targets_) {
    if (!WritableCode(target.address, kJumpBytes))
      return Fail("cannot write to libjvm.so's code: {}", ErrnoText());
  }
  for (const Target& target : targets_) {
    const WritableCode code(target.address, kJumpBytes);
    Redirect(target.address, to(target.arguments));
  }
  return {};
}

Result<void> AllocationProbe::Count(engine::Session& session, bool woven, Noted noted,
                                    const std::optional<ObjectMarks>& marks) const {
  SetAllocationGlobals(session, layout_, marks);
  return RedirectAll([&](const AllocationArguments& arguments) {
    return AllocationHandler(arguments, woven, noted);
  });
}

Result<void> AllocationProbe::Ignore() const {
  return RedirectAll([](const AllocationArguments&) { return InertAllocationHandler(); });
}

void AllocationProbe::Report(bool report) const {
  __atomic_store_n(flag_, static_cast<uint8_t>(report), __ATOMIC_SEQ_CST);
}

Result<void> AllocationProbe::CheckLate() const {
  if (*flag_ != 0) return Fail("the JVM was started with {}", kFlag);
  for (const Target& target : targets_) {
    if (!CanSetJumpTarget(target.address)) return Fail("its allocation probe is not aligned");
  }
  return {};
}

}  // namespace jprof::hotspot
