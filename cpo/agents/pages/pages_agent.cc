#include "cpo/agents/pages/pages_agent.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/control_group.h"
#include "cpo/agents/pages/burst_tracer.h"
#include "cpo/agents/pages/fault_recorder.h"
#include "cpo/agents/pages/recorded_pages.h"
#include "cpo/allocations/site_names.h"
#include "cpo/model/page_model.h"
#include "ptm/machine.h"
#include "record/run/pages_library.h"

namespace jprof::cpo {

const AgentText kPagesText = {
    .name = "pages",
    .reads = "large allocations by site, addresses of all page faults, references in bursts",
    .models = "misses of the TLB and page faults, for each group of memory on large pages",
    .directs = "groups of memory on large pages (libjprof-pages.so, madvise)",
    .validates = "page faults, guarded by CPU time",
};

namespace {

namespace fs = std::filesystem;

constexpr char kFaults[] = "page faults";
constexpr char kHugePages[] = "huge pages";
// What saves less than a hundredth of the faults, or fewer than these, is not worth a directive.
constexpr double kLeastShare = 0.01;
constexpr double kLeastFaults = 256;
// So much of the memory that is available stays free.
constexpr uint64_t kKeptFree = 4;  // a quarter
constexpr char kHeapTunable[] = "glibc.malloc.hugetlb=1";
constexpr char kHeapKind[] = "heap";

class PagesAgent final : public Agent {
 public:
  const AgentText& text() const override { return kPagesText; }

  Result<void> Eligible(const ProgramCommand& command) override {
    const std::string setting = ptm::LargePageSetting();
    if (setting.empty()) return Fail("this kernel has no transparent large pages");
    if (setting == "never") {
      return Fail(
          "large pages are switched off; an administrator switches them on by: echo "
          "madvise >/sys/kernel/mm/transparent_hugepage/enabled");
    }
    if (setting == "always")
      return Fail(
          "this kernel puts all memory on large pages already (transparent_hugepage is "
          "'always')");
    return record::CheckPagesLibrary(command.program);
  }

  Result<void> Measure(AgentRun& run) override {
    if (auto prepared = Apply({}, run); !prepared) return prepared;
    recording_ = std::make_unique<Recording>(run.folder);
    run.launch.before_exec = [this](uint32_t pid) { recording_->Begin(pid); };
    run.watch = [this](uint32_t pid) { recording_->Look(pid); };
    return {};
  }

  Result<std::vector<Proposal>> Model(const AgentRun& run,
                                      const record::Outcome& outcome) override {
    if (!recording_) return Fail("nothing was measured");
    const Recording::Found found = recording_->Finish();
    recording_.reset();
    const std::vector<Log> logs = ReadLogs(run.folder);
    const Log* const log = LastLogOf(logs, found.pid);
    if (log == nullptr) return NotLoaded();
    if (!found.problem.empty() && found.faults.empty()) return Fail("{}", found.problem);
    const auto references = ReadBursts(BurstTracer::Logs(run.folder));
    StoredReferences faults({found.faults});
    auto model = PageModel::Load(GroupsOf(*log), log->placements, *references, faults,
                                 {.tlb = ThisTlb(), .objective = Objective::kFaults});
    if (!model) return std::unexpected(model.error());
    auto proposals = ProposalsOf(*model, *log, outcome.cpu_seconds);
    for (Proposal& proposal : proposals) {
      if (!found.problem.empty()) proposal.cost += "; " + found.problem;
    }
    return proposals;
  }

  Result<void> Apply(const std::vector<Directive>& directives, AgentRun& run) override {
    std::string plan;
    bool heap = false;
    for (const Directive& directive : directives) {
      const Proposal& proposal = directive.proposal;
      if (proposal.kind == kHeapKind) {
        heap = true;
      } else {
        plan += fmt::format("large {} {} {}\n", proposal.setting, proposal.kind, proposal.key);
      }
    }
    if (auto written = record::WritePagesPlan(run.folder, plan); !written) return written;
    record::PreloadPagesLibrary(run.folder, run.launch);
    if (heap) record::AddInFront("GLIBC_TUNABLES", kHeapTunable, ':', run.launch);
    return {};
  }

  Result<std::vector<Figure>> Observe(const AgentRun& run,
                                      const record::Outcome& outcome) override {
    const std::vector<Log> logs = ReadLogs(run.folder);
    if (logs.empty()) return NotLoaded();
    uint64_t large = 0, refused = 0;
    for (const Log& log : logs) {
      for (const LoggedGroup& group : log.groups) {
        large += group.most_large;
        refused += group.refused;
      }
    }
    return std::vector<Figure>{
        {kFaults, static_cast<double>(outcome.page_faults), ""},
        {kCpuTime, outcome.cpu_seconds, kSeconds},
        {kHugePages, static_cast<double>(large / kLargePage), ""},
        {"refused huge pages", static_cast<double>(refused / kLargePage), ""}};
  }

  uint64_t Capacity(std::string_view resource) const override {
    if (resource != kHugePages) return 0;
    const uint64_t available = AvailableMemory().value_or(0);
    return (available - available / kKeptFree) / kLargePage;
  }

 private:
  // What is recorded while the measured run goes on.
  class Recording {
   public:
    struct Found {
      uint32_t pid = 0;
      std::vector<Reference> faults;
      std::string problem;  // why faults or references are missing; empty if none are
    };

    explicit Recording(const fs::path& folder) : bursts_(folder) {}

    void Begin(uint32_t pid) {
      pid_ = pid;
      auto started = FaultRecorder::Start(pid);
      if (started) {
        faults_ = *std::move(started);
      } else {
        problem_ = started.error().message;
      }
    }
    void Look(uint32_t pid) { bursts_.Look(pid); }
    Found Finish() {
      bursts_.Finish();
      Found found = {.pid = pid_, .faults = {}, .problem = problem_};
      if (faults_) {
        found.faults = faults_->Finish();
        found.problem = faults_->note();
        if (faults_->lost() != 0)
          found.problem = fmt::format("{} page faults were not recorded", faults_->lost());
      }
      if (found.problem.empty()) found.problem = bursts_.Problem();
      return found;
    }

   private:
    uint32_t pid_ = 0;
    std::unique_ptr<FaultRecorder> faults_;
    BurstTracer bursts_;
    std::string problem_;
  };

  static std::unexpected<Error> NotLoaded() {
    return Fail("the program did not load {}: is it setuid, or does it clear LD_PRELOAD?",
                record::kPagesLibrary);
  }

  // Proposes the groups that are worth it, the best for each large page first.
  static std::vector<Proposal> ProposalsOf(const PageModel& model, const Log& log,
                                           double cpu_seconds) {
    std::vector<Proposal> proposals;
    const std::vector<PagePrediction> alone = model.Alone();
    const auto all = static_cast<double>(model.none().faults);
    SiteNames names(log);
    const std::vector<uint64_t> advised = AdvisedPagesOf(log);
    // CPU time may rise by so much. In virtual machines it differs from run to run by more than
    // large pages change it.
    const double harm = (ptm::ReadMachine().virtual_machine ? 0.5 : 0.05) * cpu_seconds;
    for (const PagePrediction& one : alone) {
      const LoggedGroup& group = log.groups[one.groups.front()];
      const double saved = all - static_cast<double>(one.faults);
      if (saved < std::max(kLeastFaults, kLeastShare * all) || one.huge_pages == 0) continue;
      proposals.push_back(
          {.kind = group.kind,
           .key = group.key,
           .text = fmt::format("{} huge pages{}", one.huge_pages, names.Of(group)),
           .setting = fmt::format("{}", advised[one.groups.front()]),
           .cost = CostOf(one, model),
           .predictions =
               {{.figure = kFaults, .unit = "", .value = saved, .low = saved, .high = saved},
                {.figure = kCpuTime,
                 .unit = kSeconds,
                 .low = -harm,
                 .high = harm,
                 .is_guard = true}},
           .claim = {.resource = kHugePages, .amount = one.huge_pages}});
    }
    return proposals;
  }
  static std::string CostOf(const PagePrediction& one, const PageModel& model) {
    std::string walks = "no references were recorded";
    if (model.references() != 0) {
      walks = fmt::format("{:.1f}", one.pmb_walks.value);
      if (one.pmb_walks.error) walks += fmt::format(" +-{:.1f}", *one.pmb_walks.error);
      walks += " % of TLB misses";
    }
    const uint64_t zeroed = std::max(one.zeroed_bytes, model.none().zeroed_bytes);
    return fmt::format(
        "{:.1f} MiB more are zeroed, {:.1f} MiB are never touched; PMB: {:.1f} % of page faults, "
        "{}",
        static_cast<double>(zeroed - model.none().zeroed_bytes) / 1048576,
        static_cast<double>(one.bloat_bytes) / 1048576, one.pmb_faults.value, walks);
  }

  std::unique_ptr<Recording> recording_;
};

}  // namespace

std::unique_ptr<Agent> MakePagesAgent() { return std::make_unique<PagesAgent>(); }

}  // namespace jprof::cpo
