#include "jprof/engine/session.h"

#include <cmath>
#include <utility>

#include "common/monotonic.h"
#include "jprof/engine/labels/labels.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/thread_record.h"

namespace jprof::engine {

Result<void> Session::Start(SessionOptions options, MethodSource* source) {
  options_ = std::move(options);
  sources_.vm = source;
  if (auto opened = writer_.Open(options_.files); !opened) return opened;
  if (!methods_.Open(&writer_, options_.method_filter)) {
    return Fail("cannot set up the method table in {}: no memory or a full disk",
                options_.files.directory);
  }
  if (!methods_.SetWatch(options_.watch) || !methods_.SetGates(options_.gates))
    return Fail(
        "no memory for the methods of --distribution, --slow or --within; raise the limit of "
        "address space");
  if (options_.files.distributions && !watched_.Open())
    return Fail("no memory for the distributions of calls; raise the limit of address space");
  clock_ = MeasureClock();
  // With counters, every event has a late read.
  timing_ = TimingOf(clock_, options_.counters.empty() ? options_.timed_event_period : 1);
  WriteStart();
  gate_.Begin();
  slow_.Start();
  if (!trace_.Start()) {
    return Fail("cannot start writing {} in {}", profile::kCompressedTraceFile,
                options_.files.directory);
  }
  if (!ThreadRegistry::Prepare()) return Fail("no thread-specific key is left in this process");
  SetSession(this);
  return {};
}

void Session::WriteStart() {
  profile::ControlHeader& header = *writer_.header();
  start_unix_ns_ = UnixNanos();
  header.start_unix_ns = start_unix_ns_;
  header.start_ticks = ptm::ReadTsc();
  header.ticks_per_second = std::llround(clock_.ticks_per_second);
}

void Session::SetFunctions(MethodSource* functions) {
  sources_.functions = functions;
  ThreadRegistry::ExpectEventsInHandlers();
}

void Session::SetVm(MethodSource* source, MethodTable::Filter filter) {
  const RareWork work;
  sources_.vm = source;
  methods_.SetFilter(std::move(filter));
}

void Session::Finish() {
  const uint64_t end = ptm::ReadTsc();
  threads_.ForEach([end](Thread& thread) { EndRecordAt(thread, end); });
  trace_.Finish();
  writer_.Finish(end);
}

void Session::Close() {
  const RareWork work;
  threads_.Release();
  SetSession(nullptr);
  threads_.Free();
  timelines_.Close();
  writer_.Close();
}

void Session::AbandonInChild() {
  threads_.AbandonInChild();
  AbandonLabelsInChild();
  SetSession(nullptr);
  writer_.Close();
}

}  // namespace jprof::engine
