#include "record/count/group_counting.h"

#include <cerrno>

#include "ptm/machine.h"

namespace jprof::record {

Result<bool> OpenGroup(ptm::EventGroup& group, const std::vector<ptm::EventSpec>& events,
                       const ptm::Target& target) {
  const ptm::OpenFailure failure = group.Open(events, target);
  if (!failure.Failed()) return true;
  if (failure.error == ESRCH) return false;
  const ptm::EventSpec& event = events[static_cast<size_t>(failure.event) % events.size()];
  return WrongUse("'{}' cannot be counted: {}", event.name,
                  ptm::Explain(event, failure.error, ptm::ReadMachine()));
}

std::string NotCountedText(std::string_view event) {
  return fmt::format(
      "'{}' is not counted: it shared the CPU's counters with other events and was counted only "
      "part of the time; request fewer events (`jprof events --together A,B,C` reports whether "
      "they fit), or stop the other program that counts",
      event);
}

}  // namespace jprof::record
