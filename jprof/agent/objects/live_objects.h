// Follows allocated objects to know which of them still exist (LIVE). A snapshot collects all
// garbage, as the JVM does on request, and then counts the objects that are left, by the node that
// has allocated them.
//
// - kExact: the allocation probe puts the number of the node into the mark word of each object
//   (jprof/hotspot/objects/object_marks.h), and a snapshot reads the whole heap. Objects that the
//   VM's own code clones may lose their number; they are in the table of weak references.
// - kSampled: JVMTI samples objects (profile/files/allocation_sample.h). They are in the table, and
//   no others.
//
// The last snapshot is taken when the program ends, as its shutdown hooks begin.
//
// The events of its JVMTI environment find this object through InUse.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "common/monotonic.h"
#include "common/result.h"
#include "jprof/agent/objects/live_records.h"
#include "jprof/agent/objects/live_table.h"
#include "jprof/agent/objects/program_end.h"
#include "jprof/agent/objects/snapshot_thread.h"
#include "jprof/agent/vm/allocation_interval.h"
#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/objects/allocation_probe.h"
#include "options/agent_options.h"

namespace jprof::agent {

class LiveObjects {
 public:
  // All of it must exist as long as the object.
  struct Setting {
    JavaVM* java;
    const options::AgentOptions& options;
    const HotspotVm& vm;
    engine::Session& session;
  };
  // Fails (wrong use) if this VM cannot do it.
  static Result<std::unique_ptr<LiveObjects>> Open(const Setting& setting);
  ~LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  // What the allocation probe is to note of each object.
  hotspot::Noted noted() const { return marks_ ? hotspot::Noted::kMark : hotspot::Noted::kSite; }
  const std::optional<hotspot::ObjectMarks>& marks() const { return marks_; }

  // Begin: the first one before the JVM runs, the second one in the live phase.
  void BeginWithJvm();
  void Begin(JNIEnv* jni);
  // Takes the last snapshot, unless that was done when the program ended. Nothing is followed
  // afterwards.
  void End(JNIEnv* jni);

  // Collects all garbage and counts what is left, unless the snapshots have ended meanwhile.
  // Requires the live phase. Any thread that is attached to the VM may call it.
  void TakeSnapshot(JNIEnv* jni);

  // Handle the events: a thread that starts, an object that JVMTI has sampled, and a clone that the
  // VM has made. Each object is the last one that the calling thread has allocated.
  void OnThreadStart(JNIEnv* jni, jthread thread);
  void OnSampled(JNIEnv* jni, jobject object, uint64_t bytes);
  void OnCloned(JNIEnv* jni, jobject clone);

 private:
  LiveObjects(const Setting& setting, jvmtiEnv* jvmti, AllocationInterval interval);
  Result<void> OpenEvents();
  bool CanCollectAtDeath() const;
  void AddLast(JNIEnv* jni, jobject object, uint64_t bytes);
  void RecordSamples(JNIEnv* jni, uint64_t ns, std::vector<LiveSum>& sums);
  // Add the objects that still exist: those of the table, which get a tag, and those with a number
  // and without a tag.
  void AddTable(JNIEnv* jni, std::vector<LiveSum>& sums);
  Result<void> AddMarked(std::vector<LiveSum>& sums);
  void RemoveTags(JNIEnv* jni);

  const Setting setting_;
  jvmtiEnv* const jvmti_;  // owned
  JvmtiEvents events_;
  const AllocationInterval interval_;
  const int64_t begin_ns_ = MonotonicNanos();
  std::optional<hotspot::ObjectMarks> marks_;  // with kExact
  LiveTable table_;
  std::mutex snapshot_lock_;
  LiveRecords records_;              // guarded by snapshot_lock_
  std::atomic<bool> ended_ = false;  // is set while snapshot_lock_ is held
  ProgramEnd program_end_;
  SnapshotThread snapshots_;
};

}  // namespace jprof::agent
