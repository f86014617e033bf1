#include <algorithm>

#include "common/no_file_size_signal.h"
#include "cpo/database/history.h"
#include "cpo/database/store.h"

namespace jprof::cpo {
namespace {

void StoreFigures(Connection& connection, RowId run, const RunEnd& end) {
  Execute(connection,
          "UPDATE run SET state = 1, comparable = comparable AND ?, exit_code = ? "
          "WHERE id = ?",
          end.is_comparable ? 1 : 0, end.exit_code, run);
  Execute(connection, "DELETE FROM claim WHERE run = ?", run);
  for (const Figure& figure : end.figures) {
    Execute(connection,
            "INSERT OR REPLACE INTO figure (run, name, value, unit) VALUES (?, ?, ?, ?)", run,
            figure.name, figure.value, figure.unit);
  }
}

// Returns the history of the run's program.
History HistoryOfRun(Connection& connection, RowId run) {
  Query row(connection, "SELECT program, machine FROM run WHERE id = ?", run);
  if (!row.Next()) return {};
  return ReadHistory(connection, row.Integer(0), row.Integer(1));
}

RowId EnterDirective(Connection& connection, const History& history, const std::string& agent,
                     const Proposal& proposal) {
  Execute(connection,
          "INSERT OR IGNORE INTO allocation_group (program, kind, key) VALUES (?, ?, ?)",
          history.program, proposal.kind, proposal.key);
  Query group(connection,
              "SELECT id FROM allocation_group WHERE program = ? AND kind = ? AND key = ?",
              history.program, proposal.kind, proposal.key);
  if (!group.Next()) return 0;
  return Insert(connection,
                "INSERT INTO directive (program, machine, agent, allocation_group, text, setting, "
                "cost, state, reason) VALUES (?, ?, ?, ?, '', '', '', 0, '')",
                history.program, history.machine, agent, group.Integer(0));
}

// Replaces what is proposed in a directive that is not decided.
void SetProposal(Connection& connection, RowId directive, const Proposal& proposal) {
  Execute(connection,
          "UPDATE directive SET text = ?, setting = ?, cost = ?, resource = ?, amount = ? WHERE id "
          "= ?",
          proposal.text, proposal.setting, proposal.cost, proposal.claim.resource,
          proposal.claim.amount, directive);
  Execute(connection, "DELETE FROM prediction WHERE directive = ?", directive);
  Execute(connection, "DELETE FROM validation WHERE directive = ?", directive);
  int place = 0;
  for (const Prediction& one : proposal.predictions) {
    Execute(
        connection,
        "INSERT INTO prediction (directive, figure, unit, value, low, high, guard, place) VALUES "
        "(?, ?, ?, ?, ?, ?, ?, ?)",
        directive, one.figure, one.unit, one.value, one.low, one.high, one.is_guard ? 1 : 0,
        place++);
  }
}

void StoreDecision(Connection& connection, const Decision& decision) {
  Execute(connection, "UPDATE directive SET state = ?, reason = ? WHERE id = ?",
          static_cast<int>(decision.state), decision.reason, decision.directive);
  for (const Validation& one : decision.validations) {
    Execute(connection,
            "INSERT OR REPLACE INTO validation (directive, figure, value, low, high, runs) VALUES "
            "(?, ?, ?, ?, ?, ?)",
            decision.directive, one.figure, one.value, one.low, one.high, one.runs);
  }
}

}  // namespace

Result<void> Store::EndMeasured(RowId run, const RunEnd& end,
                                const std::vector<Proposal>& proposals) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  StoreFigures(*connection_, run, end);
  const History history = HistoryOfRun(*connection_, run);
  const auto own = std::ranges::find(history.runs, run, &Run::id);
  if (own == history.runs.end()) {
    if (auto read = connection_->Check(); !read) return read;
    return connection_->Refuse("the run was forgotten while it ran; nothing was stored");
  }
  std::vector<RowId> proposed;
  for (const Proposal& proposal : proposals) {
    const auto same = std::ranges::find_if(history.directives, [&](const Directive& one) {
      return one.agent == own->agent && one.proposal.kind == proposal.kind &&
             one.proposal.key == proposal.key;
    });
    const bool is_new = same == history.directives.end();
    if (!is_new && !same->IsUndecided()) continue;
    proposed.push_back(is_new ? EnterDirective(*connection_, history, own->agent, proposal)
                              : same->id);
    SetProposal(*connection_, proposed.back(), proposal);
  }
  for (const Directive& one : history.directives) {
    if (one.agent != own->agent || !one.IsUndecided()) continue;
    if (std::ranges::find(proposed, one.id) != proposed.end()) continue;
    StoreDecision(
        *connection_,
        {one.id,
         State::kWithdrawn,
         fmt::format("the measurement of run {} does not propose it any more", own->number),
         {}});
  }
  return transaction.Commit();
}

Result<std::vector<Decision>> Store::End(RowId run, const RunEnd& end, const Decide& decide) {
  const NoFileSizeSignal no_signal;
  Transaction transaction(*connection_);
  StoreFigures(*connection_, run, end);
  const History history = HistoryOfRun(*connection_, run);
  if (auto read = connection_->Check(); !read) return std::unexpected(read.error());
  std::vector<Decision> decisions = decide(history);
  for (const Decision& decision : decisions) StoreDecision(*connection_, decision);
  if (auto stored = transaction.Commit(); !stored) return std::unexpected(stored.error());
  return decisions;
}

}  // namespace jprof::cpo
