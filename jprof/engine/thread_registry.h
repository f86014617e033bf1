// Keeps the threads of a session: creates their states, knows which are attached, and keeps their
// memory while they are visited.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

class ThreadRegistry {
 public:
  explicit ThreadRegistry(Session& session) : session_(session) {}

  // Prepares the process for threads that exit. Returns false if no thread-specific key is
  // left.
  static bool Prepare();
  // States that signal handlers may have events, or end a recording: they must not interrupt a
  // holder of the lock. Java code alone is spared the system calls.
  static void ExpectEventsInHandlers() { events_in_handlers_ = true; }
  // Returns whether that has been stated.
  static bool events_in_handlers() { return events_in_handlers_; }

  // Returns the calling thread's state, which is created at its first event, or null if the thread
  // cannot be recorded.
  Thread* CurrentThread();
  // Does the same, but a thread has one state until it ends. With CurrentThread, a thread that
  // leaves the VM and returns is another Java thread, with another state.
  Thread* CurrentThreadUntilExit();
  // Makes the state of the calling thread end at its exit. This is done for threads that called
  // CurrentThread. Call it once on a thread after MakeCurrent, outside signal handlers.
  void DetachAtExit();
  // Completes the record of the calling thread, whose end the VM reports. Some Java code
  // still follows.
  static void End();
  // Frees the memory of the calling thread, which ends or is attached to the VM again. This also
  // happens automatically when the native thread exits.
  static void Detach();

  // Returns the new state of another thread of this process, which need not know about it. It is
  // for samples only, as the thread's clock and counters are not opened. Returns null if the thread
  // cannot be recorded.
  Thread* ThreadOf(uint32_t tid);
  // Makes `thread`, from ThreadOf, the calling thread's state. Can be called in a signal handler.
  static void MakeCurrent(Thread& thread);

  // Makes every thread empty its cache before its next event, because VM methods may have been
  // freed or replaced.
  void ForgetMethods() { Request(kForgetMethods); }
  // Sets bits of `attention` of all threads.
  void Request(uint32_t attention);

  // Keeps the memory of all threads while it exists. The last one frees the threads that
  // ended meanwhile.
  class Hold {
   public:
    explicit Hold(ThreadRegistry& threads);
    ~Hold();
    Hold(const Hold&) = delete;

   private:
    friend class ThreadRegistry;
    ThreadRegistry& threads_;
    const Thread* last_;  // last of those that existed when the hold began
  };
  // Calls f(Thread&) for every live thread. Threads that begin meanwhile may be left out. No
  // lock is held: f may enter the VM, make system calls and wait. The thread may end meanwhile;
  // its memory is kept.
  template <typename F>
  void ForEach(F f) {
    const Hold hold(*this);
    for (Thread* thread = Next(nullptr, hold); thread != nullptr; thread = Next(thread, hold))
      f(*thread);
  }

  // Close the registry: all threads are without state after Release, and their memory is free after
  // Free, which waits for holds and for threads that are leaving.
  void Release();
  void Free();
  // Closes the copies of the clocks and counters in a child made by fork().
  void AbandonInChild();

 private:
  class Guard;
  using ThreadList = boost::intrusive::list<
      Thread,
      boost::intrusive::member_hook<Thread, boost::intrusive::list_member_hook<>, &Thread::link>>;

  Thread* Make();
  void List(Thread& thread, Thread** slot);
  static Thread* Leave();
  void Remove(Thread& thread);
  bool Unlist(Thread& thread);
  Thread* Next(Thread* after, const Hold& hold);

  Session& session_;
  // Guards `current_thread` and the members below. It is one for all sessions, because a thread
  // that exits does not know whether its session is being closed.
  static SpinLock lock_;
  static bool events_in_handlers_;
  ThreadList threads_;        // live ones and, while there are holds, those that ended meanwhile
  Thread* failed_ = nullptr;  // threads without their own record, linked by next_gone
  uint32_t holds_ = 0;
  uint32_t leaving_ = 0;    // threads that leave or are freed now
  Thread* gone_ = nullptr;  // those of them that ended
};

}  // namespace jprof::engine
