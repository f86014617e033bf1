// Provides JVMTI environments: owned strings, capabilities and events, including events of later
// JDKs that the headers of JDK 17 do not declare.
#pragma once

#include <jvmti.h>

#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace jprof::agent {

// Returns the JVM's version, for example 17, or 0 if it is not known.
int MajorVersion(JavaVM* java);

// Creates an environment. Returns null if this JVM does not support JVMTI 11.
jvmtiEnv* NewJvmtiEnv(JavaVM* java);

// Requests can_support_virtual_threads. Returns false if this JVM has no virtual threads (before
// JDK 21).
bool AddVirtualThreadSupport(jvmtiEnv* jvmti);

// Enables an event. Returns false if the VM refuses.
bool EnableEvent(jvmtiEnv* jvmti, jvmtiEvent event);

// Owns a string that JVMTI allocates. It is empty if JVMTI returns none.
class JvmtiString {
 public:
  explicit JvmtiString(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  JvmtiString(const JvmtiString&) = delete;
  JvmtiString& operator=(const JvmtiString&) = delete;
  ~JvmtiString() {
    if (text_ != nullptr) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_));
  }
  // Returns the argument for a JVMTI function that returns a string.
  char** out() { return &text_; }
  const char* c_str() const { return text_; }  // null if there is none
  std::string_view view() const { return text_ != nullptr ? text_ : std::string_view(); }

 private:
  jvmtiEnv* jvmti_;
  char* text_ = nullptr;
};

// The names of a method, its signature and its class.
class MethodNames {
 public:
  // Reads the names. A method that was redefined or unloaded in the meantime may have none,
  // although its code still exists.
  MethodNames(jvmtiEnv* jvmti, jmethodID method);

  // Returns whether the names are known. If not, they may be empty, and the class null.
  bool known() const { return known_; }
  jclass declaring() const { return declaring_; }
  std::string_view class_name() const;  // for example java/lang/String
  std::string_view name() const { return name_.view(); }
  std::string_view signature() const { return signature_.view(); }

 private:
  JvmtiString name_, signature_, class_signature_;
  jclass declaring_ = nullptr;
  bool known_;
};

// Returns a system property, or an empty string if the VM does not have it. Can be called
// in OnLoad.
std::string SystemProperty(jvmtiEnv* jvmti, const char* name);
// Returns the name of a thread, or an empty string if it is unknown. Requires the live phase.
std::string ThreadName(jvmtiEnv* jvmti, jthread thread);
// Returns whether the class is linked. A class that has just been defined is not linked yet.
bool IsLinked(jvmtiEnv* jvmti, jclass type);
// Removes L and ; from the signature of a class.
std::string_view InternalName(std::string_view signature);

// Counts an event that could not be recorded because there was no memory for it.
void NoteNoMemory();

// Runs `body`, and calls NoteNoMemory if it throws std::bad_alloc: an exception that leaves a
// callback of the VM or the first function of a thread would end the program.
template <typename Body>
void NoteIfNoMemory(Body&& body) noexcept {
  try {
    body();
  } catch (const std::bad_alloc&) {
    NoteNoMemory();
  }
}

// kGuarded<Callback> is a callback of the VM that calls Callback through NoteIfNoMemory.
template <auto kCallback>
struct Guard;
template <typename... Arguments, void(JNICALL* kCallback)(Arguments...)>
struct Guard<kCallback> {
  static void JNICALL Call(Arguments... arguments) noexcept {
    NoteIfNoMemory([&] { kCallback(arguments...); });
  }
};
template <auto kCallback>
inline constexpr auto kGuarded = &Guard<kCallback>::Call;

// The events that the agent handles in one environment. The parts add their callbacks, at most one
// per event; Install sets them all.
class JvmtiEvents {
 public:
  using VirtualThreadCallback = void(JNICALL*)(jvmtiEnv*, JNIEnv*, jthread);

  // Calls `callback` at every `event` once the events are installed.
  template <typename Callback>
  void Add(jvmtiEvent event, Callback jvmtiEventCallbacks::*slot,
           std::type_identity_t<Callback> callback) {
    AddDisabled(slot, callback);
    enabled_.push_back(event);
  }
  // Adds a callback of an event that stays disabled until EnableEvent is called.
  template <typename Callback>
  void AddDisabled(Callback jvmtiEventCallbacks::*slot, std::type_identity_t<Callback> callback) {
    callbacks_.*slot = callback;
  }
  // Adds the starts and ends of virtual threads. Requires JDK 21 and AddVirtualThreadSupport.
  void AddVirtualThreads(VirtualThreadCallback start, VirtualThreadCallback end);

  void Install(jvmtiEnv* jvmti) const;
  // Disables the events. Callbacks in progress continue.
  void Uninstall(jvmtiEnv* jvmti) const;

 private:
  jvmtiEventCallbacks callbacks_ = {};
  VirtualThreadCallback virtual_start_ = nullptr, virtual_end_ = nullptr;
  std::vector<jvmtiEvent> enabled_;
};

}  // namespace jprof::agent
