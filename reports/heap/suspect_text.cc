#include "reports/heap/suspect_text.h"

#include "heap/analysis/names.h"
#include "reports/heap/heap_tables.h"

namespace jprof::reports {
namespace {

std::string ManyText(const heap::Heap& heap, const heap::Suspect& suspect) {
  return fmt::format("{} objects of {} hold {}; the largest is {}", suspect.objects,
                     ClassText(heap, suspect.node), Bytes(suspect.retained),
                     ObjectText(heap, suspect.node));
}

}  // namespace

std::string SuspectText(const heap::Heap& heap, const heap::Suspect& suspect) {
  std::string text =
      suspect.objects > 1
          ? ManyText(heap, suspect)
          : fmt::format("{} holds {}", ObjectText(heap, suspect.node), Bytes(suspect.retained));
  text += fmt::format(", {:.0f} % of the heap", ShareOf(heap, suspect.retained));
  const uint32_t last = suspect.chain.back();
  if (suspect.objects == 1 && suspect.chain.size() > 1)
    text += fmt::format(", {} of it in {}", Bytes(heap.RetainedBy(last)), ObjectText(heap, last));
  if (suspect.objects == 1 && suspect.held_objects > 1) {
    text += fmt::format(", with {} {} of {}", suspect.held_objects,
                        heap::SourceName(heap.classes[suspect.held_type].name),
                        Bytes(suspect.held_retained));
  }
  return text;
}

}  // namespace jprof::reports
