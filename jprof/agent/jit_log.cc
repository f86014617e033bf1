#include "jprof/agent/jit_log.h"

#include <jvmticmlr.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/method_type.h"
#include "common/procfs.h"
#include "jprof/agent/jvmti_threads.h"
#include "jprof/hotspot/vm.h"
#include "profile/jit_log.h"

namespace jprof::agent {
namespace {

using profile::JitCode;
using profile::JitLine;

// Lives until the process ends: events may come until then.
struct Log {
  profile::JitLogWriter writer;
  bool with_code = false;
  std::optional<hotspot::Vm> vm;  // tells C1's code from C2's; none: all counts as C1's
  std::mutex names_lock;
  std::map<uint32_t, std::string> names;  // of the threads that live, as the log has them
};
Log* the_log = nullptr;

// This thread has asked for all that was there before: the events that come now are answers.
thread_local bool asking = false;

uint32_t NativeId() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

// A text that JVMTI allocated; empty if it gave none.
class VmText {
 public:
  explicit VmText(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  VmText(const VmText&) = delete;
  ~VmText() {
    if (text_ != nullptr) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_));
  }
  char** operator&() { return &text_; }
  std::string_view get() const { return text_ != nullptr ? text_ : ""; }

 private:
  jvmtiEnv* jvmti_;
  char* text_ = nullptr;
};

// Source lines by bytecode index. For one event only: ids of methods are given again when classes
// are unloaded, and their lines change with redefinition.
class SourceLines {
 public:
  explicit SourceLines(jvmtiEnv* jvmti) : jvmti_(jvmti) {}

  // 0: not known. Index -1 is the entry of a method, before its first bytecode.
  uint32_t At(jmethodID method, jlocation bytecode) {
    if (bytecode == -1) bytecode = 0;
    if (method == nullptr || bytecode < 0) return 0;
    const Table& table = TableOf(method);
    const auto after = std::ranges::upper_bound(table, bytecode, {}, &Line::first);
    return after == table.begin() ? 0 : std::prev(after)->second;
  }

 private:
  using Line = std::pair<jlocation, uint32_t>;
  using Table = std::vector<Line>;

  const Table& TableOf(jmethodID method) {
    const auto [entry, is_new] = tables_.try_emplace(method);
    jint count = 0;
    jvmtiLineNumberEntry* lines = nullptr;
    if (is_new && jvmti_->GetLineNumberTable(method, &count, &lines) == JVMTI_ERROR_NONE) {
      for (jint i = 0; i < count; ++i) {
        entry->second.emplace_back(lines[i].start_location,
                                   static_cast<uint32_t>(lines[i].line_number));
      }
      std::ranges::sort(entry->second);
      jvmti_->Deallocate(reinterpret_cast<unsigned char*>(lines));
    }
    return entry->second;
  }

  jvmtiEnv* jvmti_;
  std::unordered_map<jmethodID, Table> tables_;
};

// HotSpot describes places in code by the address behind them (a call's is its return address; a
// sample is looked up as "the first description behind it"), so each description holds from the one
// before up to its own address.
class LineRanges {
 public:
  LineRanges(uint64_t begin, uint32_t length) : begin_(begin), length_(length) {}

  // In ascending order of address.
  void Add(const void* address, uint32_t line, uint32_t own_line) {
    const uint64_t offset = reinterpret_cast<uint64_t>(address) - begin_;
    if (offset <= end_ || offset > length_) return;
    if (lines_.empty() || lines_.back().line != line || lines_.back().own_line != own_line) {
      lines_.push_back({end_, line, own_line});
    }
    end_ = static_cast<uint32_t>(offset);
  }

  // What follows the last description (exception and deoptimization stubs) has no line.
  std::vector<JitLine> Take() {
    if (!lines_.empty() && end_ < length_) lines_.push_back({end_, 0, 0});
    return std::move(lines_);
  }

 private:
  uint64_t begin_;
  uint32_t length_;
  uint32_t end_ = 0;
  std::vector<JitLine> lines_;
};

// What HotSpot adds to the event: the inlined methods at each place, innermost first. Null: it did
// not.
const jvmtiCompiledMethodLoadInlineRecord* InlineRecord(const void* compile_info) {
  auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
  for (; header != nullptr; header = header->next) {
    if (header->kind == JVMTI_CMLR_INLINE_INFO &&
        header->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1) {
      return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    }
  }
  return nullptr;
}

std::vector<JitLine> LinesOf(jvmtiEnv* jvmti, jmethodID method, const JitCode& code,
                             std::span<const jvmtiAddrLocationMap> map, const void* compile_info) {
  SourceLines source(jvmti);
  LineRanges ranges(code.address, code.length);
  if (const auto* inlined = InlineRecord(compile_info); inlined != nullptr && inlined->numpcs > 0) {
    for (const PCStackInfo& place : std::span(inlined->pcinfo, inlined->numpcs)) {
      if (place.numstackframes < 1) continue;
      const jint last = place.numstackframes - 1;
      ranges.Add(place.pc, source.At(place.methods[0], place.bcis[0]),
                 source.At(place.methods[last], place.bcis[last]));
    }
  } else {
    for (const jvmtiAddrLocationMap& place : map) {
      const uint32_t line = source.At(method, place.location);
      ranges.Add(place.start_address, line, line);
    }
  }
  return ranges.Take();
}

std::span<const uint8_t> Instructions(const JitCode& code) {
  if (!the_log->with_code) return {};
  return {reinterpret_cast<const uint8_t*>(code.address), code.length};
}

char TypeOf(uint64_t address) {
  const MethodType type = the_log->vm ? the_log->vm->Classify(address) : MethodType::kJitted;
  return type == MethodType::kRejitted || type == MethodType::kNative ? Letter(type) : 'J';
}

void JNICALL OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint length, const void* address,
                          jint map_length, const jvmtiAddrLocationMap* map,
                          const void* compile_info) {
  if (length <= 0) return;
  JitCode code = {.address = reinterpret_cast<uint64_t>(address),
                  .length = static_cast<uint32_t>(length)};
  VmText name(jvmti), signature(jvmti), class_signature(jvmti), source(jvmti);
  jclass declaring = nullptr;
  // A method that was redefined or unloaded meanwhile may have no name any more, but its code
  // stands there.
  if (jvmti->GetMethodName(method, &name, &signature, nullptr) == JVMTI_ERROR_NONE &&
      jvmti->GetMethodDeclaringClass(method, &declaring) == JVMTI_ERROR_NONE &&
      jvmti->GetClassSignature(declaring, &class_signature, nullptr) == JVMTI_ERROR_NONE) {
    jvmti->GetSourceFileName(declaring, &source);
    code.class_name = InternalName(class_signature.get());
    code.name = name.get();
    code.signature = signature.get();
    code.source = source.get();
  } else {
    code.class_name = "(unknown)";
    code.name = "method";
  }
  code.type = TypeOf(code.address);
  code.level = code.type == Letter(MethodType::kRejitted) ? 4 : 0;
  const std::vector<JitLine> lines =
      LinesOf(jvmti, method, code, std::span(map, map != nullptr ? std::max(map_length, 0) : 0),
              compile_info);
  code.lines = lines;
  code.code = Instructions(code);
  the_log->writer.Load(code, asking);
}

void JNICALL OnMethodUnload(jvmtiEnv*, jmethodID, const void* address) {
  the_log->writer.Unload(reinterpret_cast<uint64_t>(address));
}

void JNICALL OnStub(jvmtiEnv*, const char* name, const void* address, jint length) {
  if (length <= 0) return;
  JitCode code = {.address = reinterpret_cast<uint64_t>(address),
                  .length = static_cast<uint32_t>(length),
                  .stub = true};
  code.name = name != nullptr ? name : "";
  code.type = Letter(code.name == "Interpreter" ? MethodType::kInterpreted : MethodType::kOther);
  code.code = Instructions(code);
  the_log->writer.Load(code, asking);
}

// Threads.

void Named(uint32_t tid, profile::JitThreadEvent event, const std::string& name) {
  std::lock_guard guard(the_log->names_lock);
  const auto [entry, is_new] = the_log->names.try_emplace(tid, name);
  if (!is_new && entry->second == name) return;  // main begins after it was named, for one
  entry->second = name;
  the_log->writer.Thread(tid, event, name);
}

// The native id of a Java thread is kept in its storage of this environment.
void Remember(jvmtiEnv* jvmti, jthread thread, uint32_t tid) {
  jvmti->SetThreadLocalStorage(thread, reinterpret_cast<void*>(uint64_t{tid}));
}

void JNICALL OnThreadStart(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  Remember(jvmti, thread, NativeId());
  Named(NativeId(), profile::kJitBegan, NameOf(jvmti, thread));
}

void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  const uint32_t tid = NativeId();
  Named(tid, profile::kJitNamed, NameOf(jvmti, thread));
  Remember(jvmti, thread, 0);
  std::lock_guard guard(the_log->names_lock);
  the_log->names.erase(tid);
  the_log->writer.Thread(tid, profile::kJitThreadEnded, "");
}

// The threads of this process and the kernel's names of them: HotSpot's are the first 15 bytes of
// its own.
std::map<uint32_t, std::string> KernelNames() {
  std::map<uint32_t, std::string> names;
  for (const uint32_t tid : procfs::Threads(procfs::kSelf))
    names[tid] = procfs::ThreadName(procfs::kSelf, tid);
  return names;
}

// Threads that ran before the VM could tell us, those that it never tells of (compilers,
// collectors) among them.
void NameEarlyThreads(jvmtiEnv* jvmti, JNIEnv* jni) {
  std::map<uint32_t, std::string> early = KernelNames();
  {
    std::lock_guard guard(the_log->names_lock);
    for (const auto& [tid, name] : the_log->names) early.erase(tid);
  }
  ForEachJavaThread(jvmti, jni, [&](jthread thread) {
    void* tid = nullptr;
    if (jvmti->GetThreadLocalStorage(thread, &tid) != JVMTI_ERROR_NONE || tid != nullptr) return;
    const std::string name = NameOf(jvmti, thread);
    const auto found = std::ranges::find(early, name.substr(0, 15),
                                         [](const auto& entry) { return entry.second; });
    if (found == early.end()) return;
    Remember(jvmti, thread, found->first);
    Named(found->first, profile::kJitNamed, name);
    early.erase(found);
  });
  for (const auto& [tid, name] : early) Named(tid, profile::kJitNamed, name);
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread main) {
  Remember(jvmti, main, NativeId());
  Named(NativeId(), profile::kJitNamed, NameOf(jvmti, main));
  NameEarlyThreads(jvmti, jni);
  asking = true;
  jvmti->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  asking = false;
}

void JNICALL OnVmDeath(jvmtiEnv* jvmti, JNIEnv* jni) {
  ForEachJavaThread(jvmti, jni, [&](jthread thread) {
    void* tid = nullptr;
    if (jvmti->GetThreadLocalStorage(thread, &tid) == JVMTI_ERROR_NONE && tid != nullptr) {
      Named(static_cast<uint32_t>(reinterpret_cast<uint64_t>(tid)), profile::kJitNamed,
            NameOf(jvmti, thread));
    }
  });
  the_log->writer.End();
}

}  // namespace

Result<void> StartJitLog(JavaVM* java, int directory_fd, bool code) {
  jvmtiEnv* jvmti = nullptr;
  if (java->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Fail("no log of jitted code: this JVM has no JVMTI 11");
  }
  jvmtiCapabilities wanted = {};
  wanted.can_generate_compiled_method_load_events = 1;
  wanted.can_get_line_numbers = 1;
  wanted.can_get_source_file_name = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return Fail("no log of jitted code: this JVM does not tell what it compiles");
  }
  auto* log = new Log;
  if (auto opened = log->writer.Open(directory_fd); !opened) {
    delete log;
    jvmti->DisposeEnvironment();
    return Fail("no log of jitted code: {}", opened.error().message);
  }
  log->with_code = code;
  if (const auto structs = hotspot::VmStructs::Load()) {
    if (auto vm = hotspot::Vm::Open(*structs)) log->vm = *vm;
  }
  the_log = log;
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = OnVmInit;
  callbacks.VMDeath = OnVmDeath;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.CompiledMethodLoad = OnMethodLoad;
  callbacks.CompiledMethodUnload = OnMethodUnload;
  callbacks.DynamicCodeGenerated = OnStub;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
        JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
        JVMTI_EVENT_DYNAMIC_CODE_GENERATED}) {
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  return {};
}

}  // namespace jprof::agent
