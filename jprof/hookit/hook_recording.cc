#include "jprof/hookit/hook_recording.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <span>
#include <string>
#include <utility>

#include "common/no_memory.h"
#include "jprof/hookit/context_places.h"
#include "jprof/hookit/function_source.h"
#include "jprof/hookit/hooks.h"
#include "jprof/hookit/native_locks.h"
#include "jprof/hookit/sled_handlers.h"
#include "jprof/hookit/sleds.h"
#include "jprof/setup/meta.h"
#include "jprof/setup/plan.h"
#include "jprof/setup/print_message.h"
#include "jprof/setup/profile_directory.h"
#include "options/agent_options.h"
#include "options/hook_variable.h"
#include "profile/files/process_context.h"
#include "profile/files/whole_file.h"
#include "ptm/thread_instructions.h"

// Is in the library of lock_functions.cc.
extern "C" [[gnu::weak]] const char jprof_counts_locks;

namespace jprof::hookit {
namespace {

void StartOnce();
void FirstEnter(void* function, void* call_site);
void FirstLeave(void* function, void* call_site);
void NoFunctionYet(std::string_view) {}  // a label is a node below a function
constexpr Handlers kFirst = {FirstEnter, FirstLeave, NoFunctionYet, NoFunctionYet};

enum class State { kNotStarted, kStarting, kStarted };

// These are the hooks' only globals beside the handlers, because a call of a hook passes only a
// function.
std::atomic<State> state = State::kNotStarted;
// Hooks are called before this library's constructors and after its destructors: all of these are
// constant-initialised, and objects with a destructor are never destroyed.
constinit OwnRecording own = {};                 // its session exists until the end
std::atomic<engine::Session*> joined = nullptr;  // the agent's
pid_t owner = 0;                                 // the process of `own`
bool finished = false;
bool expected = false;
bool records_children = false;
bool has_sleds = false;
// In a child made by fork(), these are the functions that its only thread had entered. They are in
// memory of the parent's recording, which the child keeps.
std::span<const engine::Frame> open_frames;
// The thread that starts the recording calls hooks itself if what it uses has them.
__thread bool starting __attribute__((tls_model("initial-exec"))) = false;

FunctionSource& Functions() {
  static auto* const functions = new FunctionSource;
  return *functions;
}

void Use(const Handlers& handlers) {
  __atomic_store_n(&current_handlers.label, handlers.label, __ATOMIC_RELEASE);
  __atomic_store_n(&current_handlers.mark, handlers.mark, __ATOMIC_RELEASE);
  __atomic_store_n(&current_handlers.leave, handlers.leave, __ATOMIC_RELEASE);
  __atomic_store_n(&current_handlers.enter, handlers.enter, __ATOMIC_RELEASE);
}

const char* Environment(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

// Fails with wrong use for an option that needs a JVM.
Result<void> CheckOptions(const options::AgentOptions& options, const setup::Plan& plan) {
  if (plan.source != setup::Source::kProbe) return WrongUse("SCS and TPROF need a JVM");
  if (plan.sampling) return WrongUse("SAMPLE needs a JVM");
  if (options.detach || !options.reply.empty()) return WrongUse("DETACH and REPLY need a JVM");
  return {};
}

// Returns the session that records the functions of this process, or null.
engine::Session* SessionHere() { return own.session != nullptr ? own.session : joined.load(); }

bool RecordsItself() { return own.session != nullptr && owner == getpid() && !finished; }

void NoteUnpatched(engine::Session& session) {
  session.writer().header()->unpatched_modules = UnpatchedModules();
}

// Returns what the report states about sleds that are left as they are, or an empty text if there
// are none.
std::string SledNote() {
  const uint32_t left = SledsLeft();
  if (left == 0) return "";
  return std::to_string(left) +
         " sleds before conditional jumps are not patched: their exits count as healed frames";
}

Result<void> WriteMeta(const options::AgentOptions& options, const std::string& directory) {
  const auto text =
      ToJson(setup::GatherMeta({}, options, own.session,
                               {.kind = has_sleds ? ProbeKind::kSleds : ProbeKind::kHooks,
                                .note = SledNote(),
                                .build_id = ""}));
  return profile::WriteWholeFile(directory + "/" + profile::kMetaFile, text);
}

// Sets `own`. Does nothing if the options exclude this process.
Result<Handlers> Start() {
  const char* typed = getenv(options::kHookOptionsVariable);
  if (typed == nullptr) return InertHandlers();
  auto options = options::ParseAgentOptions(typed, Environment("JPROFOPTS"));
  if (!options) return std::unexpected(options.error());
  auto plan = setup::MakePlan(*options, /*has_vm=*/false);
  if (!plan) return std::unexpected(plan.error());
  if (auto good = CheckOptions(*options, *plan); !good) return std::unexpected(good.error());
  records_children = options->children == options::Children::kAll;
  if (!records_children) unsetenv(options::kHookOptionsVariable);  // programs that it starts
  if (options->hooks == options::Hooks::kNo) return InertHandlers();
  const auto directory = setup::MakeProfileDirectory(*options);
  if (!directory) return std::unexpected(directory.error());
  if (directory->empty()) return InertHandlers();

  engine::SessionOptions session = std::move(plan->session);
  session.files.directory = *directory;
  session.files.directory_is_made = true;
  session.kernel_names = true;
  if (!plan->session.files.trace) session.open_frames = open_frames;
  auto* const begins = new engine::Session;
  begins->SetFunctions(&Functions());
  if (auto begun = begins->Start(std::move(session), &Functions()); !begun)
    return std::unexpected(begun.error());
  own = {begins, plan->kind, strdup(directory->c_str())};
  NoteUnpatched(*begins);  // a library that another thread loads now finds `own`
  owner = getpid();
  finished = false;
  if (auto written = WriteMeta(*options, *directory); !written)
    return std::unexpected(written.error());
  if (options->verbose) setup::PrintMessage("recording C and C++ functions into " + *directory);
  SetSledHandlers(plan->kind, options->train);
  if (plan->locks) CountLocks(new NativeLocks(*begins, options->lite));
  return HandlersFor(plan->kind, options->train);
}

// Returns the functions that a thread has entered, without the frame of its row.
std::span<const engine::Frame> OpenFrames(const engine::Thread& thread) {
  if (thread.cursor.top == nullptr) return {};
  return {thread.timeline.frames + 1, thread.cursor.top};
}

// Returns whether the recording cannot begin with the first call of a hook.
bool BeginsAtOnce() { return has_sleds || &jprof_counts_locks != nullptr; }

// Prepares a child made by fork(): its recording begins at its first hook, unless an agent records
// this process.
void InChild() {
  if (state == State::kStarting) {  // by a thread that this process does not have
    own = {};
    state = State::kNotStarted;
  }
  ResetPathsInChild();
  if (state != State::kStarted) return;
  joined = nullptr;
  if (own.session == nullptr) return Use(InertHandlers());
  CountLocks(nullptr);
  const engine::Thread* const thread = engine::current_thread;
  open_frames = thread != nullptr && !finished ? OpenFrames(*thread) : decltype(open_frames)();
  own.session->AbandonInChild();
  own = {};
  ClearSledHandlers();
  if (!records_children) return Use(InertHandlers());
  state = State::kNotStarted;
  Use(kFirst);
  if (BeginsAtOnce()) StartOnce();
}

void HandleForks() {
  static const int handled = pthread_atfork(nullptr, nullptr, InChild);
  (void)handled;
}

Handlers StartOrSayWhyNot() {
  const auto handlers = FailWithoutMemory(Start);
  if (handlers) return *handlers;
  setup::PrintMessage(handlers.error().message +
                      "; the program runs without its C and C++ functions being recorded");
  return InertHandlers();
}

// Starts the recording once. Other threads wait, because their events count too. A fork that comes
// before its handler is there would leave a child that waits for a thread that it does not have.
void StartOnce() {
  HandleForks();
  State seen = State::kNotStarted;
  if (!state.compare_exchange_strong(seen, State::kStarting)) {
    while (state == State::kStarting) sched_yield();
    return;
  }
  starting = true;
  Use(RunOrWithoutMemory(StartOrSayWhyNot, InertHandlers()));
  starting = false;
  state = State::kStarted;
  if (own.session == nullptr) return;
  AwaitTracer();
  AnnounceContext();
}

// Starts the recording at an event. The program must find its errno as it was.
void StartAtEvent() {
  const int error = errno;
  StartOnce();
  errno = error;
}

// These functions leave by a jump, as the hooks do: the handler sees the stack pointer of the
// function.
void FirstEnter(void* function, void* call_site) {
  if (starting) return;
  StartAtEvent();
  current_handlers.enter(function, call_site);
}
void FirstLeave(void* function, void* call_site) {
  if (starting) return;
  StartAtEvent();
  current_handlers.leave(function, call_site);
}

}  // namespace

Handlers current_handlers = kFirst;

void Join(engine::Session& session, engine::RecordingKind kind, bool train) {
  unsetenv(options::kHookOptionsVariable);
  session.SetFunctions(&Functions());
  HandleForks();
  Use(HandlersFor(kind, train));
  joined = &session;
  NoteUnpatched(session);
  SetSledHandlers(kind, train);  // AtLoad has patched sleds if functions are to be recorded
  state = State::kStarted;
}

bool Expected() { return expected; }

const OwnRecording& Own() { return own; }

engine::Session* BegunSession() {
  if (starting) return nullptr;
  if (expected && state == State::kNotStarted) StartAtEvent();
  return SessionHere();
}

void AwaitTracer() {
  jprof_thread_instructions_offset = ptm::ThreadInstructionsOffset();
  if (!ptm::BeginTracing("jprof_instructions_begin", jprof_instructions_begin,
                         ptm::thread_instructions))
    setup::PrintMessage("the program is not being traced: instructions are not counted");
}

void Leave() {
  if (own.session != nullptr) return;
  joined = nullptr;
  Use(InertHandlers());
  ClearSledHandlers();
}

void Finish() {
  if (!RecordsItself()) return;
  finished = true;
  CountLocks(nullptr);
  own.session->Finish();
  profile::KeepProcessContext(own.directory);
}

void ForgetFunctions() {
  ForgetPaths();
  if (engine::Session* const session = SessionHere()) session->threads().ForgetMethods();
}

void EndBefore(std::string_view what) {
  if (joined != nullptr || finished || (own.session != nullptr && owner != getpid())) return;
  if (own.session != nullptr || getenv(options::kHookOptionsVariable) != nullptr)
    setup::PrintMessage(fmt::format("the program calls {}: the recording ends here", what));
  Use(InertHandlers());
  ClearSledHandlers();
  state = State::kStarted;
  Finish();
}

namespace {

// Is called when a library with sleds has been loaded. The dynamic linker's lock is held: a thread
// that begins the recording now is not waited for.
void OnLateSleds() {
  has_sleds = true;
  if (state == State::kNotStarted) return StartOnce();
  engine::Session* const session = SessionHere();
  if (session != nullptr && !finished) NoteUnpatched(*session);
}

// Begins the recording when the library is loaded if there are sleds, or if locks are counted: they
// call no hook.
[[gnu::constructor]] void AtLoad() {
  expected = getenv(options::kHookOptionsVariable) != nullptr;
  if (!expected) return;
  HandleForks();  // while there is one thread
  ClearSledHandlers();
  has_sleds = PatchSleds(OnLateSleds);
  if (BeginsAtOnce()) StartOnce();
}

[[gnu::destructor]] void AtExit() {
  if (RecordsItself()) NoteUnpatched(*own.session);
  Finish();
}

}  // namespace

}  // namespace jprof::hookit
