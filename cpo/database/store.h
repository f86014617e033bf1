// Remembers programs, runs and directives in an SQLite file. Each function that changes something
// is one transaction: processes may use the file at the same time, and one that is killed leaves it
// as it was before or after a step. A run whose process disappeared is recognised by the next step
// of any process, does not count, and loses its claims when its program has ended, too.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "cpo/database/connection.h"
#include "cpo/database/records.h"

namespace jprof::cpo {

// What a run is to do, as chosen from the history.
struct RunPlan {
  std::string agent;
  RunKind kind = RunKind::kPlain;
  std::map<RowId, bool> tried;  // undecided directives: whether each is to be applied
  std::vector<RowId> applied;   // validated directives, which are applied in any case
  std::map<std::string, uint64_t> capacities;  // of the resources that these claim
};

struct BegunRun {
  RowId id = 0;
  uint32_t number = 0;
  RunPlan plan;                    // as granted: `tried` and `applied` are without what was refused
  std::vector<Directive> refused;  // claims that did not fit
  History history;                 // before this run
};

// How a run ended.
struct RunEnd {
  int exit_code = 0;
  bool is_comparable = true;  // false if it was interrupted or its agent could not observe it
  std::vector<Figure> figures;
};

// A change of a directive that was decided.
struct Decision {
  RowId directive = 0;
  State state = State::kProposed;
  std::string reason;
  std::vector<Validation> validations;
};

using Choose = std::function<RunPlan(const History&)>;
using Decide = std::function<std::vector<Decision>(const History&)>;
// Returns whether a process is alive.
using IsAlive = std::function<bool(const ProcessKey&)>;

// Returns the key of a process of this machine, and whether the process of a key runs.
ProcessKey KeyOf(uint32_t pid);
bool Runs(const ProcessKey& process);

class Store {
 public:
  // Opens the file, which is made or migrated if necessary. Fails if it cannot be written, is
  // damaged, or is of a newer jprof or another program.
  static Result<Store> Open(const std::filesystem::path& file, IsAlive alive = Runs);
  // Opens the file to read it. Returns nothing if it does not exist or is empty.
  static Result<std::optional<Store>> OpenToRead(const std::filesystem::path& file);

  // Begins a run: marks lost runs, has `choose` make a plan from the history, resolves its claims,
  // and stores the run with its directives as applied.
  Result<BegunRun> Begin(const ProgramKey& program, const MachineKey& machine,
                         const ProcessKey& process, const Choose& choose);
  // Stores which process is the program of the run.
  Result<void> SetProgram(RowId run, const ProcessKey& program);
  // Removes a run whose program could not be started.
  Result<void> Abandon(RowId run);
  // Ends a run that was measured. The agent's directives of the program become the proposals: those
  // that were decided before keep their state, and undecided ones that are not proposed any more
  // are withdrawn.
  Result<void> EndMeasured(RowId run, const RunEnd& end, const std::vector<Proposal>& proposals);
  // Ends another run, and has `decide` change directives by the history, which includes it. Returns
  // the decisions.
  Result<std::vector<Decision>> End(RowId run, const RunEnd& end, const Decide& decide);

  // Returns the claims of the run that others with a higher benefit for each unit have got.
  Result<std::vector<RowId>> Yielded(RowId run);

  // Returns what is known of a program on a machine: nothing, with both ids 0, for a new one.
  Result<History> Load(const ProgramKey& program, const MachineKey& machine);
  // Returns everything that is known of this machine, ordered by name.
  Result<std::vector<History>> LoadAll(const MachineKey& machine);
  // Forgets the programs of this name on all machines, and returns how many there were.
  Result<int> Forget(const std::string& name);
  // Fails if the file is damaged or rows contradict each other.
  Result<void> CheckConsistency();

 private:
  explicit Store(std::unique_ptr<Connection> connection, IsAlive alive)
      : connection_(std::move(connection)), alive_(std::move(alive)) {}
  void MarkLost();
  void Reclaim(BegunRun& begun, RowId machine);

  std::unique_ptr<Connection> connection_;
  IsAlive alive_;
};

}  // namespace jprof::cpo
