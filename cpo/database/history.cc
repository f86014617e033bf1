#include "cpo/database/history.h"

#include <algorithm>

namespace jprof::cpo {
namespace {

// Returns the directive or run with this id in a list in the order of ids, or null.
template <typename Row>
Row* RowIn(std::vector<Row>& rows, RowId id) {
  const auto found = std::ranges::lower_bound(rows, id, {}, &Row::id);
  return found == rows.end() || found->id != id ? nullptr : &*found;
}

void ReadDirectives(Connection& connection, History& history) {
  Query rows(
      connection,
      "SELECT d.id, d.agent, g.kind, g.key, d.text, d.setting, d.cost, d.resource, d.amount, "
      "d.state, d.reason FROM directive d JOIN allocation_group g ON g.id = "
      "d.allocation_group WHERE d.program = ? AND d.machine = ? ORDER BY d.id",
      history.program, history.machine);
  while (rows.Next()) {
    history.directives.push_back(
        {.id = rows.Integer(0),
         .agent = rows.Text(1),
         .proposal = {.kind = rows.Text(2),
                      .key = rows.Text(3),
                      .text = rows.Text(4),
                      .setting = rows.Text(5),
                      .cost = rows.Text(6),
                      .predictions = {},
                      .claim = {rows.Text(7), static_cast<uint64_t>(rows.Integer(8))}},
         .state = static_cast<State>(rows.Integer(9)),
         .reason = rows.Text(10),
         .validations = {}});
  }
}

void ReadPredictions(Connection& connection, History& history) {
  Query rows(
      connection,
      "SELECT p.directive, p.figure, p.unit, p.value, p.low, p.high, p.guard FROM prediction "
      "p JOIN directive d ON d.id = p.directive WHERE d.program = ? AND d.machine = ? "
      "ORDER BY p.directive, p.place",
      history.program, history.machine);
  while (rows.Next()) {
    Directive* const directive = RowIn(history.directives, rows.Integer(0));
    if (directive == nullptr) continue;
    directive->proposal.predictions.push_back({.figure = rows.Text(1),
                                               .unit = rows.Text(2),
                                               .value = rows.Real(3),
                                               .low = rows.Real(4),
                                               .high = rows.Real(5),
                                               .is_guard = rows.Integer(6) != 0});
  }
}

void ReadValidations(Connection& connection, History& history) {
  Query rows(connection,
             "SELECT v.directive, v.figure, v.value, v.low, v.high, v.runs FROM validation v JOIN "
             "directive d ON d.id = v.directive WHERE d.program = ? AND d.machine = ?",
             history.program, history.machine);
  while (rows.Next()) {
    if (Directive* const directive = RowIn(history.directives, rows.Integer(0)))
      directive->validations.push_back({.figure = rows.Text(1),
                                        .value = rows.Real(2),
                                        .low = rows.Real(3),
                                        .high = rows.Real(4),
                                        .runs = static_cast<uint32_t>(rows.Integer(5))});
  }
}

void ReadRuns(Connection& connection, History& history) {
  Query rows(
      connection,
      "SELECT id, number, agent, kind, state, comparable, exit_code FROM run WHERE program = "
      "? AND machine = ? ORDER BY id",
      history.program, history.machine);
  while (rows.Next()) {
    history.runs.push_back({.id = rows.Integer(0),
                            .number = static_cast<uint32_t>(rows.Integer(1)),
                            .agent = rows.Text(2),
                            .kind = static_cast<RunKind>(rows.Integer(3)),
                            .state = static_cast<RunState>(rows.Integer(4)),
                            .is_comparable = rows.Integer(5) != 0,
                            .exit_code = static_cast<int>(rows.Integer(6)),
                            .tried = {},
                            .figures = {}});
  }
  Query trials(connection,
               "SELECT t.run, t.directive, t.applied FROM trial t JOIN run r ON r.id = t.run WHERE "
               "r.program = ? AND r.machine = ?",
               history.program, history.machine);
  while (trials.Next()) {
    if (Run* const run = RowIn(history.runs, trials.Integer(0)))
      run->tried[trials.Integer(1)] = trials.Integer(2) != 0;
  }
  Query figures(connection,
                "SELECT f.run, f.name, f.value, f.unit FROM figure f JOIN run r ON r.id = f.run "
                "WHERE r.program = ? AND r.machine = ? ORDER BY f.rowid",
                history.program, history.machine);
  while (figures.Next()) {
    if (Run* const run = RowIn(history.runs, figures.Integer(0)))
      run->figures.push_back({figures.Text(1), figures.Real(2), figures.Text(3)});
  }
}

RowId FirstInteger(Query&& query) { return query.Next() ? query.Integer(0) : 0; }

}  // namespace

std::string TextOf(const MachineKey& machine) {
  std::string text;
  for (const auto& [part, value] : machine) text += fmt::format("{}={}\n", part, value);
  return text;
}

RowId FindProgram(Connection& connection, const ProgramKey& program) {
  return FirstInteger(Query(connection,
                            "SELECT id FROM program WHERE identity = ? AND arguments = ?",
                            program.identity, program.arguments));
}

RowId FindMachine(Connection& connection, const MachineKey& machine) {
  return FirstInteger(
      Query(connection, "SELECT id FROM machine WHERE fingerprint = ?", TextOf(machine)));
}

RowId EnterProgram(Connection& connection, const ProgramKey& program) {
  if (const RowId id = FindProgram(connection, program); id != 0) return id;
  return Insert(connection, "INSERT INTO program (name, identity, arguments) VALUES (?, ?, ?)",
                program.name, program.identity, program.arguments);
}

RowId EnterMachine(Connection& connection, const MachineKey& machine) {
  if (const RowId id = FindMachine(connection, machine); id != 0) return id;
  return Insert(connection, "INSERT INTO machine (fingerprint) VALUES (?)", TextOf(machine));
}

History ReadHistory(Connection& connection, RowId program, RowId machine) {
  History history = {
      .program = program, .machine = machine, .key = {}, .directives = {}, .runs = {}};
  Query row(connection, "SELECT name, identity, arguments FROM program WHERE id = ?", program);
  if (row.Next()) history.key = {row.Text(0), row.Text(1), row.Text(2)};
  ReadDirectives(connection, history);
  ReadPredictions(connection, history);
  ReadValidations(connection, history);
  ReadRuns(connection, history);
  return history;
}

}  // namespace jprof::cpo
