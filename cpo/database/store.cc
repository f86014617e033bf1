#include "cpo/database/store.h"

#include <algorithm>
#include <chrono>

#include "common/no_file_size_signal.h"
#include "common/procfs.h"
#include "cpo/database/claims.h"
#include "cpo/database/history.h"
#include "cpo/database/schema.h"

namespace jprof::cpo {
namespace {

constexpr int kPlainRunsKept = 100;

int64_t NowNanos() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

const std::string& Boot() {
  static const std::string boot = [] {
    std::string text =
        procfs::ReadSmallFile(std::string(procfs::kRoot) + "/sys/kernel/random/boot_id");
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
  }();
  return boot;
}

double BenefitOf(const Directive& directive) {
  const auto& predictions = directive.proposal.predictions;
  return predictions.empty() ? 0 : predictions.front().value;
}

const Directive* DirectiveOf(const History& history, RowId id) {
  const auto found = std::ranges::find(history.directives, id, &Directive::id);
  return found == history.directives.end() ? nullptr : &*found;
}

// Returns the directives that the run is to apply.
std::vector<RowId> AppliedBy(const RunPlan& plan) {
  std::vector<RowId> applied = plan.applied;
  for (const auto& [directive, is_applied] : plan.tried) {
    if (is_applied) applied.push_back(directive);
  }
  return applied;
}

void Refuse(RowId directive, BegunRun& begun) {
  if (const auto tried = begun.plan.tried.find(directive); tried != begun.plan.tried.end())
    tried->second = false;
  std::erase(begun.plan.applied, directive);
  begun.refused.push_back(*DirectiveOf(begun.history, directive));
}

}  // namespace

ProcessKey KeyOf(uint32_t pid) {
  const std::string stat = procfs::ReadSmallFile(procfs::Directory(pid) + "/stat");
  return {.pid = pid, .start = procfs::ParseStartTime(stat).value_or(0), .boot = Boot()};
}

bool Runs(const ProcessKey& process) {
  return process.pid != 0 && KeyOf(process.pid) == process && procfs::Runs(process.pid);
}

Result<Store> Store::Open(const std::filesystem::path& file, IsAlive alive) {
  const NoFileSizeSignal no_signal;
  auto connection = Connection::Open(file);
  if (!connection) return std::unexpected(connection.error());
  if (auto good = PrepareSchema(**connection); !good) return std::unexpected(good.error());
  Store store(*std::move(connection), std::move(alive));
  if (auto good = store.CheckConsistency(); !good) return std::unexpected(good.error());
  return store;
}

Result<std::optional<Store>> Store::OpenToRead(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  auto connection = Connection::OpenToRead(file);
  if (!connection) return std::unexpected(connection.error());
  const auto has_tables = CheckSchema(**connection);
  if (!has_tables) return std::unexpected(has_tables.error());
  if (!*has_tables) return std::nullopt;
  return Store(*std::move(connection), Runs);
}

// Marks the runs whose jprof has gone, and releases the claims of those whose program has, too.
void Store::MarkLost() {
  struct Left {
    RowId run;
    bool is_running;
    ProcessKey process, program;
  };
  std::vector<Left> all;
  {
    Query rows(*connection_,
               "SELECT id, state, pid, pid_start, boot, program_pid, program_start FROM run WHERE "
               "state = 0 OR id IN (SELECT run FROM claim)");
    while (rows.Next()) {
      const auto key = [&](int column) {
        return ProcessKey{.pid = static_cast<uint32_t>(rows.Integer(column)),
                          .start = static_cast<uint64_t>(rows.Integer(column + 1)),
                          .boot = rows.Text(4)};
      };
      all.push_back({rows.Integer(0), rows.Integer(1) == 0, key(2), key(5)});
    }
  }
  for (const Left& one : all) {
    if (alive_(one.process)) continue;
    if (one.is_running) Execute(*connection_, "UPDATE run SET state = 2 WHERE id = ?", one.run);
    if (one.program.pid == 0 || !alive_(one.program))
      Execute(*connection_, "DELETE FROM claim WHERE run = ?", one.run);
  }
}

// Resolves the claims of a run against those of all other runs on this machine.
void Store::Reclaim(BegunRun& begun, RowId machine) {
  std::map<std::string, std::vector<ClaimRow>> by_resource;
  for (const RowId id : AppliedBy(begun.plan)) {
    const Directive* const directive = DirectiveOf(begun.history, id);
    if (directive == nullptr || directive->proposal.claim.amount == 0) continue;
    by_resource[directive->proposal.claim.resource].push_back(
        {begun.id, id, directive->proposal.claim.amount, BenefitOf(*directive), false});
  }
  for (auto& [resource, claims] : by_resource) {
    Query held(*connection_,
               "SELECT run, directive, amount, benefit FROM claim WHERE machine = ? AND resource = "
               "? AND yielded_to = 0",
               machine, resource);
    while (held.Next())
      claims.push_back({held.Integer(0), held.Integer(1), static_cast<uint64_t>(held.Integer(2)),
                        held.Real(3), true});
    const Grants grants = Resolve(begun.plan.capacities[resource], std::move(claims));
    for (const ClaimRow& one : grants.refused) Refuse(one.directive, begun);
    for (const ClaimRow& one : grants.yielded) {
      Execute(*connection_, "UPDATE claim SET yielded_to = ? WHERE run = ? AND directive = ?",
              begun.id, one.run, one.directive);
    }
    for (const ClaimRow& one : grants.granted) {
      Execute(*connection_,
              "INSERT INTO claim (run, directive, machine, resource, amount, benefit) VALUES (?, "
              "?, ?, ?, ?, ?)",
              begun.id, one.directive, machine, resource, one.amount, one.benefit);
    }
    if (grants.is_contested())
      Execute(*connection_, "UPDATE run SET comparable = 0 WHERE id = ?", begun.id);
  }
}

Result<BegunRun> Store::Begin(const ProgramKey& program, const MachineKey& machine,
                              const ProcessKey& process, const Choose& choose) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  MarkLost();
  const RowId program_id = EnterProgram(*connection_, program);
  const RowId machine_id = EnterMachine(*connection_, machine);
  BegunRun begun;
  begun.history = ReadHistory(*connection_, program_id, machine_id);
  if (auto read = connection_->Check(); !read) return std::unexpected(read.error());
  begun.plan = choose(begun.history);
  begun.number = begun.history.runs.empty() ? 1 : begun.history.runs.back().number + 1;
  begun.id = Insert(*connection_,
                    "INSERT INTO run (program, machine, number, agent, kind, state, comparable, "
                    "began_at, pid, pid_start, boot) VALUES (?, ?, ?, ?, ?, 0, 1, ?, ?, ?, ?)",
                    program_id, machine_id, begun.number, begun.plan.agent,
                    static_cast<int>(begun.plan.kind), NowNanos(), process.pid, process.start,
                    process.boot);
  Reclaim(begun, machine_id);
  for (const auto& [directive, is_applied] : begun.plan.tried) {
    Execute(*connection_, "INSERT INTO trial (run, directive, applied) VALUES (?, ?, ?)", begun.id,
            directive, is_applied ? 1 : 0);
    if (is_applied)
      Execute(*connection_, "UPDATE directive SET state = 1 WHERE id = ? AND state = 0", directive);
  }
  Execute(*connection_,
          "DELETE FROM run WHERE program = ? AND machine = ? AND kind = 2 AND state != "
          "0 AND number < ?",
          program_id, machine_id, static_cast<int64_t>(begun.number) - kPlainRunsKept);
  if (auto stored = transaction.Commit(); !stored) return std::unexpected(stored.error());
  return begun;
}

Result<void> Store::SetProgram(RowId run, const ProcessKey& program) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  Execute(*connection_, "UPDATE run SET program_pid = ?, program_start = ? WHERE id = ?",
          program.pid, program.start, run);
  return transaction.Commit();
}

Result<void> Store::Abandon(RowId run) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  Execute(*connection_, "DELETE FROM run WHERE id = ?", run);
  return transaction.Commit();
}

Result<std::vector<RowId>> Store::Yielded(RowId run) {
  std::vector<RowId> yielded;
  Query rows(*connection_, "SELECT directive FROM claim WHERE run = ? AND yielded_to != 0", run);
  while (rows.Next()) yielded.push_back(rows.Integer(0));
  if (auto read = connection_->Check(); !read) return std::unexpected(read.error());
  return yielded;
}

Result<History> Store::Load(const ProgramKey& program, const MachineKey& machine) {
  Transaction transaction(*connection_, Transaction::Mode::kRead);
  const RowId program_id = FindProgram(*connection_, program);
  const RowId machine_id = FindMachine(*connection_, machine);
  History history = program_id != 0 && machine_id != 0
                        ? ReadHistory(*connection_, program_id, machine_id)
                        : History{.key = program};
  if (auto read = transaction.Commit(); !read) return std::unexpected(read.error());
  return history;
}

Result<std::vector<History>> Store::LoadAll(const MachineKey& machine) {
  Transaction transaction(*connection_, Transaction::Mode::kRead);
  std::vector<History> all;
  const RowId machine_id = FindMachine(*connection_, machine);
  Query rows(*connection_,
             "SELECT id FROM program WHERE id IN (SELECT program FROM run WHERE machine = ?) ORDER "
             "BY name, id",
             machine_id);
  while (rows.Next()) all.push_back(ReadHistory(*connection_, rows.Integer(0), machine_id));
  if (auto read = transaction.Commit(); !read) return std::unexpected(read.error());
  return all;
}

Result<int> Store::Forget(const std::string& name) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  int programs = 0;
  {
    Query count(*connection_, "SELECT count(*) FROM program WHERE name = ?", name);
    if (count.Next()) programs = static_cast<int>(count.Integer(0));
  }
  Execute(*connection_, "DELETE FROM program WHERE name = ?", name);
  if (auto stored = transaction.Commit(); !stored) return std::unexpected(stored.error());
  return programs;
}

Result<void> Store::CheckConsistency() { return cpo::CheckConsistency(*connection_); }

}  // namespace jprof::cpo
