#include "record/kernel/kernel_events.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <kernel_events.skel.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <iterator>
#include <span>

#include "common/errno_text.h"
#include "common/fd.h"
#include "ptm/open_event.h"

namespace jprof::record {
namespace {

constexpr uint32_t kRingBytes = 4 << 20, kSmallRingBytes = 1 << 20;
constexpr uint32_t kManyProcessors = 16;  // above that, their rings are small
// The programs that only count interrupts do without these.
constexpr const char* kEventPrograms[] = {"on_wakeup", "on_exec", "on_renamed", "on_exit",
                                          "on_announced"};
constexpr const char* kMemoryPrograms[] = {"on_map", "on_page_fault"};
constexpr char kAnnounce[] = "jprof_announce_context";

// What libbpf says, of which the last lines explain a failure.
std::string& Log() {
  static std::string log;
  return log;
}

int KeepLog(libbpf_print_level level, const char* format, va_list arguments) {
  if (level > LIBBPF_WARN) return 0;
  char line[512];
  vsnprintf(line, sizeof line, format, arguments);
  if (Log().size() < 1 << 16) Log() += line;
  return 0;
}

// Returns what a program is attached to, "sched_switch" of "tp_btf/sched_switch", if its section
// begins with `kind`; else an empty text.
std::string_view AttachedTo(const bpf_program* program, std::string_view kind) {
  const std::string_view section = bpf_program__section_name(program);
  return section.starts_with(kind) ? section.substr(kind.size()) : std::string_view();
}

bool IsKnown(const btf* types, const bpf_program* program) {
  if (const auto name = AttachedTo(program, "tp_btf/"); !name.empty()) {
    const std::string type = "btf_trace_" + std::string(name);
    return btf__find_by_name_kind(types, type.c_str(), BTF_KIND_TYPEDEF) > 0;
  }
  for (const char* kind : {"fentry/", "fexit/"}) {
    if (const auto name = AttachedTo(program, kind); !name.empty())
      return btf__find_by_name_kind(types, std::string(name).c_str(), BTF_KIND_FUNC) > 0;
  }
  return true;
}

}  // namespace

struct KernelEvents::State {
  kernel_events* programs = nullptr;
  ring_buffer* rings = nullptr;
  std::vector<Fd> ring_maps;
  std::vector<bpf_link*> links;
  std::vector<Fd> counters;
  std::vector<std::string> announcers;
  std::vector<std::string> notes;
  uint32_t processors = 0;
  // One for each ring, for libbpf's callback.
  struct Reader {
    State* state;
    uint32_t processor;
  };
  std::vector<Reader> readers;
  const Visitor* visit = nullptr;

  ~State() {
    for (bpf_link* link : links) bpf_link__destroy(link);
    ring_buffer__free(rings);
    if (programs != nullptr) kernel_events__destroy(programs);
  }

  Result<void> Load(const KernelEventsOptions& options);
  // Returns EMFILE if too few files may be open, and logs why; else 0.
  int CheckOpenFiles(const KernelEventsOptions& options);
  // Opens the programs and loads them without those that are `refused`. Returns 0 or an errno.
  int TryLoad(const KernelEventsOptions& options, const btf* types,
              std::span<const char* const> refused);
  void Choose(const KernelEventsOptions& options, const btf* types,
              std::span<const char* const> refused);
  Result<void> MakeRings();
  void OpenCounters(const std::vector<ptm::EventSpec>& specs);
  void AttachAnnouncers();
};

namespace {

// Returns whether so many more files can be open, about: descriptors have the lowest free number.
// The limit is in `limit`.
bool MayOpen(uint64_t files, rlimit& limit) {
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const Fd next(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  return next && static_cast<uint64_t>(next.get()) + files <= limit.rlim_cur;
}

// Returns why the programs cannot be loaded.
std::string Reason(int error) {
  if ((error == EPERM || error == EACCES) && geteuid() != 0)
    return "this user may not load programs into the kernel; run it as root, or with the "
           "capabilities CAP_BPF and CAP_PERFMON";
  std::string lines = Log();
  constexpr size_t kShown = 400;
  if (lines.size() > kShown) lines = "..." + lines.substr(lines.size() - kShown);
  std::ranges::replace(lines, '\n', ' ');
  return fmt::format("{}: {}", strerror(error), lines);
}

}  // namespace

// Chooses what is wanted and what this kernel has.
void KernelEvents::State::Choose(const KernelEventsOptions& options, const btf* types,
                                 std::span<const char* const> refused) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, programs->obj) {
    const std::string_view name = bpf_program__name(program);
    const bool memory = std::ranges::find(kMemoryPrograms, name) != std::end(kMemoryPrograms);
    const bool calls = name == "on_call_begin" || name == "on_call_end";
    // Takes the place of on_page_fault.
    const bool instead = name == "on_user_page_fault";
    const bool needed =
        std::ranges::find(refused, std::string_view("on_page_fault")) != refused.end();
    const bool events = std::ranges::find(kEventPrograms, name) != std::end(kEventPrograms);
    const bool wanted = (!events || !options.thread_interrupts) && (!memory || options.memory) &&
                        (!calls || options.system_calls) &&
                        (!instead || (options.memory && needed));
    const bool usable =
        IsKnown(types, program) && std::ranges::find(refused, name) == refused.end();
    if (!wanted || !usable) bpf_program__set_autoload(program, false);
    if (wanted && !usable && name == "on_map")
      notes.push_back(
          "mapped files are not recorded: this kernel allows no program at the "
          "function perf_event_mmap");
  }
}

// Fails before anything is loaded: the reasons that the kernel and libbpf give without descriptors
// are misleading.
int KernelEvents::State::CheckOpenFiles(const KernelEventsOptions& options) {
  constexpr uint64_t kOthers = 32;  // maps, files that are written, pipes of the command
  uint64_t files = kOthers + processors * (1 + options.counters.size());
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, programs->obj) {
    if (bpf_program__autoload(program)) files += 2;  // the program and its link
  }
  rlimit limit;
  if (MayOpen(files, limit)) return 0;
  Log() = fmt::format("it takes {} files, and {} may be open; raise the limit with `ulimit -n`",
                      files, limit.rlim_cur);
  return EMFILE;
}

int KernelEvents::State::TryLoad(const KernelEventsOptions& options, const btf* types,
                                 std::span<const char* const> refused) {
  notes.clear();
  Log().clear();
  if (programs != nullptr) kernel_events__destroy(programs);
  programs = kernel_events__open();
  if (programs == nullptr) return errno;
  Choose(options, types, refused);
  processors = static_cast<uint32_t>(libbpf_num_possible_cpus());
  programs->rodata->all_processes = options.all_processes;
  programs->rodata->counts_only = options.thread_interrupts;
  programs->rodata->counter_count =
      std::min<uint32_t>(static_cast<uint32_t>(options.counters.size()), KERNEL_COUNTERS);
  bpf_map__set_max_entries(programs->maps.rings, processors);
  bpf_map__set_max_entries(programs->maps.counters, processors * KERNEL_COUNTERS);
  if (const int failed = CheckOpenFiles(options); failed != 0) return failed;
  return std::abs(kernel_events__load(programs));
}

// The programs of memory are at functions of the kernel, which may refuse them: then they are left
// out.
Result<void> KernelEvents::State::Load(const KernelEventsOptions& options) {
  libbpf_set_print(KeepLog);
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  btf* types = btf__load_vmlinux_btf();
  if (libbpf_get_error(types) != 0)
    return Fail("the kernel has no type information: it was built without CONFIG_DEBUG_INFO_BTF");
  const std::span memory = kMemoryPrograms;
  int failed = TryLoad(options, types, {});
  for (const size_t first : {0u, 1u}) {
    if (failed != 0 && failed != EMFILE && options.memory)
      failed = TryLoad(options, types, memory.subspan(first, 1));
  }
  if (failed != 0 && failed != EMFILE && options.memory) failed = TryLoad(options, types, memory);
  btf__free(types);
  if (failed == EMFILE) return Fail("the events of the kernel cannot be recorded: {}", Log());
  return failed == 0 ? Result<void>() : Fail("the kernel refuses programs: {}", Reason(failed));
}

Result<void> KernelEvents::State::MakeRings() {
  readers.reserve(processors);
  const int outer = bpf_map__fd(programs->maps.rings);
  for (uint32_t i = 0; i < processors; ++i) {
    Fd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
                           processors > kManyProcessors ? kSmallRingBytes : kRingBytes, nullptr));
    const int inner = ring.get();
    if (!ring || bpf_map_update_elem(outer, &i, &inner, BPF_ANY) != 0)
      return Fail("cannot make a buffer for the records of processor {}: {}", i, ErrnoText());
    readers.push_back({this, i});
    const ring_buffer_sample_fn on_record = [](void* context, void* data, size_t bytes) {
      const auto* reader = static_cast<Reader*>(context);
      (*reader->state->visit)(reader->processor, {static_cast<const char*>(data), bytes});
      return 0;
    };
    if (rings == nullptr) {
      rings = ring_buffer__new(inner, on_record, &readers.back(), nullptr);
      if (rings == nullptr) return Fail("cannot map a buffer of records: {}", ErrnoText());
    } else if (const int failed = ring_buffer__add(rings, inner, on_record, &readers.back());
               failed != 0) {
      return Fail("cannot map a buffer of records: {}", strerror(-failed));
    }
    ring_maps.push_back(std::move(ring));
  }
  return {};
}

void KernelEvents::State::OpenCounters(const std::vector<ptm::EventSpec>& specs) {
  const int map = bpf_map__fd(programs->maps.counters);
  for (const int cpu : ptm::OnlineCpus()) {
    for (size_t i = 0; i < std::min<size_t>(specs.size(), KERNEL_COUNTERS); ++i) {
      perf_event_attr attributes = ptm::AttributesOf(specs[i]);
      Fd event(ptm::OpenAllowed(specs[i], attributes, {.tid = -1, .cpu = cpu}, -1));
      const auto index = static_cast<uint32_t>(cpu) * KERNEL_COUNTERS + static_cast<uint32_t>(i);
      const int fd = event.get();
      if (!event || bpf_map_update_elem(map, &index, &fd, BPF_ANY) != 0)
        notes.push_back(
            fmt::format("{} is not counted on processor {}: {}", specs[i].name, cpu, ErrnoText()));
      counters.push_back(std::move(event));
    }
  }
}

void KernelEvents::State::AttachAnnouncers() {
  for (const std::string& library : announcers) {
    LIBBPF_OPTS(bpf_uprobe_opts, options, .func_name = kAnnounce);
    bpf_link* link = bpf_program__attach_uprobe_opts(programs->progs.on_announced, -1,
                                                     library.c_str(), 0, &options);
    if (link == nullptr)
      notes.push_back(
          fmt::format("stretches end without a calling context: the kernel refuses a "
                      "probe in {}: {}",
                      library, ErrnoText()));
    else
      links.push_back(link);
  }
}

Result<KernelEvents> KernelEvents::Open(const KernelEventsOptions& options) {
  auto state = std::make_unique<State>();
  state->announcers = options.announcers;
  if (auto loaded = state->Load(options); !loaded) return std::unexpected(loaded.error());
  if (!options.thread_interrupts) {
    if (auto made = state->MakeRings(); !made) return std::unexpected(made.error());
  }
  state->OpenCounters(options.counters);
  return KernelEvents(std::move(state));
}

KernelEvents::KernelEvents(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelEvents::KernelEvents(KernelEvents&&) noexcept = default;
KernelEvents& KernelEvents::operator=(KernelEvents&&) noexcept = default;
KernelEvents::~KernelEvents() = default;

Result<void> KernelEvents::Start() {
  state_->AttachAnnouncers();
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->programs->obj) {
    if (!bpf_program__autoload(program) || program == state_->programs->progs.on_announced)
      continue;
    bpf_link* link = bpf_program__attach(program);
    if (link == nullptr)
      return Fail("the kernel refuses to run {}: {}", bpf_program__section_name(program),
                  ErrnoText());
    state_->links.push_back(link);
  }
  return {};
}

void KernelEvents::Stop() {
  for (bpf_link* link : state_->links) bpf_link__destroy(link);
  state_->links.clear();
}

void KernelEvents::AddTarget(uint32_t process) {
  const uint8_t yes = 1;
  bpf_map_update_elem(bpf_map__fd(state_->programs->maps.targets), &process, &yes, BPF_ANY);
}

void KernelEvents::RemoveTarget(uint32_t process) {
  bpf_map_delete_elem(bpf_map__fd(state_->programs->maps.targets), &process);
}

void KernelEvents::Read(const Visitor& visit) {
  state_->visit = &visit;
  ring_buffer__consume(state_->rings);
  state_->visit = nullptr;
}

std::vector<uint64_t> KernelEvents::Lost() const {
  const uint32_t zero = 0;
  std::vector<kernel_processor_state> states(state_->processors);
  bpf_map_lookup_elem(bpf_map__fd(state_->programs->maps.processors), &zero, states.data());
  std::vector<uint64_t> lost;
  for (const kernel_processor_state& state : states) lost.push_back(state.lost);
  return lost;
}

void KernelEvents::ReadInterrupts(
    const std::function<void(uint32_t tid, uint64_t count)>& visit) const {
  const int map = bpf_map__fd(state_->programs->maps.interrupts);
  uint64_t count = 0;
  for (uint32_t tid = 0, *before = nullptr; bpf_map_get_next_key(map, before, &tid) == 0;
       before = &tid) {
    if (bpf_map_lookup_elem(map, &tid, &count) == 0) visit(tid, count);
  }
}

uint32_t KernelEvents::processors() const { return state_->processors; }
const std::vector<std::string>& KernelEvents::notes() const { return state_->notes; }

}  // namespace jprof::record
