// Distributes trace blocks, by mode. Blocks are in the profile's `trace` file. A thread writes into
// its own block, and calls this only when the block is full.
//   normal      a thread gets blocks until its share is used up; then its events are counted as
//               dropped
//   wrap        its oldest block is overwritten; the events in it are counted as overwritten
//   continuous  a background thread compresses full blocks into trace.zst and returns them; a
//               thread that finds none free waits up to 200 ms, then drops and counts its events.
//               After a wait that failed, or on a full disk, threads drop at once until a block
//               has been written
#pragma once

#include <cstdint>

#include "jprof/engine/session_options.h"
#include "jprof/engine/thread.h"
#include "jprof/engine/trace/trace_drain.h"
#include "profile/files/writer.h"

namespace jprof::engine {

class TraceBlocks {
 public:
  TraceBlocks(profile::Writer& writer, const SessionOptions& options)
      : writer_(writer), options_(options) {}

  // Starts the background thread if the mode needs it. Returns false if there is no file, no thread
  // or no memory.
  bool Start();
  // Gives the thread its next block. Returns false if there is none.
  bool Next(Thread& thread);
  // Returns how many blocks the ring of the current timeline has from the one with this sequence
  // on, including the current one.
  uint32_t InRing(const Thread& thread, uint64_t first_sequence) const;
  // Marks these blocks as kept and takes them out of the ring, which grows again by new ones. The
  // thread has another current block afterwards. Returns false, and keeps none, if there is no
  // space for that. Requires kWrap, and a current block.
  bool Keep(Thread& thread, uint64_t first_sequence);
  // Completes the last block of a thread that ends.
  void End(Thread& thread);
  // Ends the background thread, if there is one.
  void Finish() { drain_.Stop(); }

 private:
  profile::TraceBlock* NewBlock(Timeline& timeline);
  profile::TraceBlock* NewOrOldest(Timeline& timeline);
  profile::TraceBlock* InExchange(Thread& thread);
  uint32_t Share() const;

  profile::Writer& writer_;
  const SessionOptions& options_;
  TraceDrain drain_;
};

}  // namespace jprof::engine
