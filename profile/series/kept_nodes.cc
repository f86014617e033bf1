#include "profile/series/kept_nodes.h"

#include <sys/mman.h>

#include "common/mapped_memory.h"

namespace jprof::profile {

void KeptNodes::Unmap::operator()(char* memory) const { munmap(memory, bytes); }

bool KeptNodes::Allocate(size_t number, uint32_t extras) {
  const size_t bytes = kExtraOffset + kPiece * size_t{extras} * sizeof(int64_t);
  if (bytes > memory_ - allocated_) return false;
  char* const memory = static_cast<char*>(MapBytes(bytes));
  if (memory == nullptr) return false;
  // One call is faster than two faults for each page, which is read first and then written.
  madvise(memory, bytes, MADV_POPULATE_WRITE);
  allocated_ += bytes;
  if (number >= pieces_.size()) pieces_.resize(number + 1);
  pieces_[number] = {memory, {.bytes = bytes}};
  return true;
}

}  // namespace jprof::profile
