// The database: steps, migration, files that cannot be used, processes that are killed, many
// processes at a time, and claims.
#include "cpo/database/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <random>
#include <set>

#include "cpo/database/claims.h"
#include "cpo/database/schema.h"
#include "cpo/optimize/life.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::cpo {
namespace {

const ProgramKey kProgram = {"sort", "build-id:1", "args"};
const MachineKey kMachine = {{"cpu", "one"}, {"kernel", "6.1"}};

Proposal Site(const std::string& key, double benefit, uint64_t pages = 0) {
  return {.kind = "site",
          .key = key,
          .text = "huge",
          .setting = "huge",
          .predictions = {{"faults", "", benefit, benefit, benefit}},
          .claim = {"huge pages", pages}};
}

RunPlan PlanOf(const History& history, uint64_t capacity = 1000) {
  const Candidate candidate = {"pages", true};
  RunPlan plan = ChoosePlan(history, {&candidate, 1}, false);
  plan.capacities["huge pages"] = capacity;
  return plan;
}

// Runs the program once, as a process would: with a good directive, the faults fall from 100 to 10.
Result<void> RunOnce(Store& store) {
  const auto begun = store.Begin(kProgram, kMachine, KeyOf(static_cast<uint32_t>(getpid())),
                                 [](const History& history) { return PlanOf(history); });
  if (!begun) return std::unexpected(begun.error());
  if (auto set = store.SetProgram(begun->id, KeyOf(1)); !set) return set;
  const bool is_applied =
      std::ranges::any_of(begun->plan.tried, [](auto& one) { return one.second; });
  const RunEnd end = {0, true, {{"faults", is_applied ? 10.0 : 100.0, ""}}};
  if (begun->plan.kind == RunKind::kMeasured)
    return store.EndMeasured(begun->id, end, {Site("main+0x10", 90, 5)});
  const auto done =
      store.End(begun->id, end, [](const History& history) { return DecideOn(history, "pages"); });
  return done ? Result<void>() : std::unexpected(done.error());
}

class StoreTest : public testing::Test {
 protected:
  std::filesystem::path File() const { return folder_.path() / "data" / "optimize.db"; }
  Store Open() {
    auto store = Store::Open(File());
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return *std::move(store);
  }
  void Write(const std::string& text) {
    std::filesystem::create_directories(File().parent_path());
    std::ofstream(File(), std::ios::binary) << text;
  }
  void Sql(const std::string& sql) {
    std::filesystem::create_directories(File().parent_path());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(File().c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(database);
  }
  std::string OpenError() {
    const auto store = Store::Open(File());
    return store ? "" : store.error().message;
  }

  TemporaryDirectory folder_{"cpo-store"};
};

TEST_F(StoreTest, RemembersALife) {
  {
    Store store = Open();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(RunOnce(store));
  }
  Store store = Open();
  const History history = *store.Load(kProgram, kMachine);
  ASSERT_EQ(history.directives.size(), 1u);
  const Directive& one = history.directives.front();
  EXPECT_EQ(one.agent, "pages");
  EXPECT_EQ(one.proposal.key, "main+0x10");
  EXPECT_EQ(one.proposal.claim.amount, 5u);
  EXPECT_EQ(one.proposal.predictions.front().value, 90);
  EXPECT_EQ(one.state, State::kValidated);
  EXPECT_EQ(one.validations.front().value, 90);
  ASSERT_EQ(history.runs.size(), 6u);
  EXPECT_EQ(history.runs.front().kind, RunKind::kMeasured);
  EXPECT_EQ(history.runs[1].tried.at(one.id), true);
  EXPECT_EQ(history.runs[1].figures.front().value, 10);
  EXPECT_EQ(history.runs[5].kind, RunKind::kPlain);
  EXPECT_EQ(history.key.name, "sort");
  EXPECT_EQ(store.LoadAll(kMachine)->size(), 1u);
  EXPECT_TRUE(store.LoadAll({{"cpu", "other"}})->empty());
  EXPECT_EQ(*store.Forget("sort"), 1);
  EXPECT_EQ(*store.Forget("sort"), 0);
  EXPECT_TRUE(store.LoadAll(kMachine)->empty());
  EXPECT_TRUE(store.CheckConsistency());
}

TEST_F(StoreTest, IsReadableByItsOwnerOnly) {
  Open();
  EXPECT_EQ(std::filesystem::status(File()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(StoreTest, KeepsABoundedNumberOfPlainRuns) {
  Store store = Open();
  for (int i = 0; i < 130; ++i) ASSERT_TRUE(RunOnce(store));
  const History history = *store.Load(kProgram, kMachine);
  EXPECT_EQ(history.runs.back().number, 130u);
  EXPECT_EQ(history.runs.front().number, 1u);
  EXPECT_LE(history.runs.size(), 106u);
}

// A file as the first version wrote it.
constexpr char kVersion1[] = R"(
CREATE TABLE program (id INTEGER PRIMARY KEY, name TEXT NOT NULL, identity TEXT NOT NULL,
  arguments TEXT NOT NULL, UNIQUE (identity, arguments));
CREATE TABLE machine (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE run (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE,
  machine INTEGER NOT NULL REFERENCES machine, number INTEGER NOT NULL, agent TEXT NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2), comparable INTEGER NOT NULL,
  exit_code INTEGER NOT NULL DEFAULT 0, began_at INTEGER NOT NULL,
  pid INTEGER NOT NULL, pid_start INTEGER NOT NULL, boot TEXT NOT NULL,
  UNIQUE (program, machine, number));
CREATE TABLE figure (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL,
  value REAL NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE allocation_group (id INTEGER PRIMARY KEY,
  program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE, kind TEXT NOT NULL,
  key TEXT NOT NULL, UNIQUE (program, kind, key));
CREATE TABLE directive (id INTEGER PRIMARY KEY,
  program INTEGER NOT NULL REFERENCES program ON DELETE CASCADE,
  machine INTEGER NOT NULL REFERENCES machine, agent TEXT NOT NULL,
  allocation_group INTEGER NOT NULL REFERENCES allocation_group ON DELETE CASCADE,
  text TEXT NOT NULL, setting TEXT NOT NULL, cost TEXT NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3), reason TEXT NOT NULL,
  UNIQUE (program, machine, agent, allocation_group));
CREATE TABLE prediction (directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE,
  figure TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL, low REAL NOT NULL,
  high REAL NOT NULL, guard INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (directive, figure));
CREATE TABLE validation (directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE,
  figure TEXT NOT NULL, value REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  runs INTEGER NOT NULL, PRIMARY KEY (directive, figure));
CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  directive INTEGER NOT NULL REFERENCES directive ON DELETE CASCADE, applied INTEGER NOT NULL,
  PRIMARY KEY (run, directive));
INSERT INTO program VALUES (1, 'sort', 'build-id:1', 'args');
INSERT INTO machine VALUES (1, 'cpu=one' || char(10) || 'kernel=6.1' || char(10));
INSERT INTO run VALUES (1, 1, 1, 1, 'pages', 0, 1, 1, 0, 5, 77, 88, 'boot');
INSERT INTO run VALUES (2, 1, 1, 2, 'pages', 1, 1, 1, 0, 6, 77, 88, 'boot');
INSERT INTO figure VALUES (1, 'faults', 100, ''), (2, 'faults', 10, '');
INSERT INTO allocation_group VALUES (1, 1, 'site', 'main+0x10');
INSERT INTO directive VALUES (1, 1, 1, 'pages', 1, 'huge', 'huge', 'none', 1, '');
INSERT INTO prediction VALUES (1, 'faults', '', 90, 80, 100, 0, 0);
INSERT INTO trial VALUES (2, 1, 1);
PRAGMA application_id = 1785754223; PRAGMA user_version = 1;
)";

TEST_F(StoreTest, MigratesAnOlderFile) {
  Sql(kVersion1);
  EXPECT_NE(Store::OpenToRead(File()).error().message.find("older jprof"), std::string::npos);
  Store store = Open();
  const History history = *store.Load(kProgram, kMachine);
  ASSERT_EQ(history.directives.size(), 1u);
  EXPECT_EQ(history.directives.front().state, State::kApplied);
  EXPECT_EQ(history.directives.front().proposal.claim.amount, 0u);
  EXPECT_EQ(history.runs.size(), 2u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(RunOnce(store));
  EXPECT_EQ(store.Load(kProgram, kMachine)->directives.front().state, State::kValidated);
  EXPECT_TRUE(Store::OpenToRead(File()));
}

TEST_F(StoreTest, RefusesWhatItCannotUse) {
  Sql("CREATE TABLE other (x); PRAGMA application_id = 1785754223; PRAGMA user_version = 99");
  EXPECT_NE(OpenError().find("version 99 of a newer jprof"), std::string::npos) << OpenError();
  std::filesystem::remove(File());
  Sql("CREATE TABLE other (x)");
  EXPECT_NE(OpenError().find("belongs to another program"), std::string::npos) << OpenError();
  Write("this is a text of more than a few bytes, and no database at all: " +
        std::string(900, 'x'));
  EXPECT_NE(OpenError().find("not a database; move it away"), std::string::npos) << OpenError();
  std::filesystem::remove(File());
  std::filesystem::create_directory(File());
  EXPECT_NE(OpenError().find("it is not a regular file"), std::string::npos) << OpenError();
  for (const std::string& said : {OpenError()}) {
    EXPECT_NE(said.find(File().string()), std::string::npos);
    EXPECT_NE(said.find("--database"), std::string::npos);
  }
  EXPECT_FALSE(Store::Open("/proc/optimize.db"));
  EXPECT_FALSE(*Store::OpenToRead(folder_.path() / "none"));
  std::ofstream(folder_.path() / "empty");
  EXPECT_FALSE(*Store::OpenToRead(folder_.path() / "empty"));
}

TEST_F(StoreTest, RefusesADamagedFileOrReadsIt) {
  {
    Store store = Open();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(RunOnce(store));
  }
  std::ifstream in(File(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::string bad = good;
    if (i % 4 == 0) bad.resize(random() % bad.size());
    for (int j = 0; j < 40 && !bad.empty(); ++j) {
      char& byte = bad[random() % bad.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(random() % 255 + 1));
    }
    Write(bad);
    auto store = Store::Open(File());
    if (!store) {
      ++refused;
      EXPECT_NE(store.error().message.find("--database"), std::string::npos);
    } else {
      (void)RunOnce(*store);
    }
    std::filesystem::remove(File().string() + "-journal");
  }
  EXPECT_GT(refused, 50);
}

// Kills a process at a random instruction of SQLite's virtual machine.
int steps_left = 0;
int KillAtStep(void*) {
  if (--steps_left == 0) raise(SIGKILL);
  return 0;
}
int WatchSteps(sqlite3* database, char**, const void*) {
  sqlite3_progress_handler(database, 1, KillAtStep, nullptr);
  return SQLITE_OK;
}

TEST_F(StoreTest, SurvivesKillsInAllSteps) {
  std::mt19937 random(11);
  int killed = 0;
  for (int i = 0; i < 120; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps_left = 1 + static_cast<int>(random() % 6000);
      sqlite3_auto_extension(reinterpret_cast<void (*)()>(WatchSteps));
      auto store = Store::Open(File());
      for (int j = 0; store && j < 3; ++j) (void)RunOnce(*store);
      _exit(0);
    }
    random();  // another place for the next one
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    killed += WIFSIGNALED(status) ? 1 : 0;
    auto store = Store::Open(File());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(store->CheckConsistency());
    ASSERT_TRUE(RunOnce(*store));
    const History history = *store->Load(kProgram, kMachine);
    EXPECT_TRUE(std::ranges::none_of(
        history.runs, [](const cpo::Run& run) { return run.state == RunState::kRunning; }));
    if (i % 10 == 9) {
      EXPECT_EQ(*store->Forget("sort"), 1);
    }
  }
  EXPECT_GT(killed, 60);
}

TEST_F(StoreTest, LostRunsDoNotCount) {
  std::set<uint32_t> alive = {1, 2, 3};
  const auto is_alive = [&](const ProcessKey& key) { return alive.contains(key.pid); };
  auto store = Store::Open(File(), is_alive);
  ASSERT_TRUE(RunOnce(*store));
  const auto choose = [](const History& history) { return PlanOf(history); };
  const auto lost = store->Begin(kProgram, kMachine, {1, 10, "b"}, choose);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(lost->plan.tried.begin()->second);
  // While it runs, the next one is of the other kind.
  const auto second = store->Begin(kProgram, kMachine, {2, 10, "b"}, choose);
  EXPECT_FALSE(second->plan.tried.begin()->second);
  alive.erase(1);
  const auto third = store->Begin(kProgram, kMachine, {3, 10, "b"}, choose);
  EXPECT_TRUE(third->plan.tried.begin()->second);
  EXPECT_EQ(store->Load(kProgram, kMachine)->runs[1].state, RunState::kLost);
}

TEST_F(StoreTest, SixteenProcessesAtATime) {
  constexpr int kProcesses = 16, kRuns = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto store = Store::Open(File());
      int failed = store ? 0 : 100;
      for (int j = 0; store && j < kRuns; ++j) failed += RunOnce(*store) ? 0 : 1;
      _exit(failed);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  Store store = Open();
  const History history = *store.Load(kProgram, kMachine);
  EXPECT_EQ(history.runs.back().number, static_cast<uint32_t>(kProcesses * kRuns));
  ASSERT_EQ(history.directives.size(), 1u);
  EXPECT_EQ(history.directives.front().state, State::kValidated);
  int with = 0, without = 0;
  for (const cpo::Run& run : history.runs) {
    EXPECT_EQ(run.state, RunState::kEnded);
    for (const auto& [directive, is_applied] : run.tried) (is_applied ? with : without) += 1;
  }
  EXPECT_LE(std::abs(with - without), 2);
}

TEST(Claims, GoToTheHighestBenefitForEachPage) {
  const Grants grants = Resolve(100, {{1, 1, 50, 500, false},   // 10 a page
                                      {1, 2, 60, 1200, false},  // 20 a page
                                      {1, 3, 40, 100, false},   // 2.5 a page
                                      {2, 9, 30, 90, true}});   // 3 a page
  ASSERT_EQ(grants.granted.size(), 1u);
  EXPECT_EQ(grants.granted[0].directive, 2);
  ASSERT_EQ(grants.refused.size(), 2u);
  EXPECT_TRUE(grants.yielded.empty());
  EXPECT_FALSE(grants.is_contested());
}

TEST(Claims, NeverExceedTheCapacity) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<ClaimRow> claims;
    std::map<int64_t, uint64_t> amounts;
    uint64_t held = 0;
    for (int64_t i = 0; i < 12; ++i) {
      ClaimRow row = {i % 3, i, 1 + random() % 50, static_cast<double>(random() % 100), i % 3 == 0};
      amounts[i] = row.amount;
      held += row.is_held ? row.amount : 0;
      claims.push_back(row);
    }
    const Grants grants = Resolve(120, claims);
    uint64_t used = held;
    for (const ClaimRow& one : grants.yielded) used -= one.amount;
    for (const ClaimRow& one : grants.granted) used += one.amount;
    EXPECT_LE(used, 120u);
    EXPECT_EQ(grants.granted.size() + grants.refused.size(), 8u);
  }
}

TEST_F(StoreTest, TwoProgramsThatClaimMoreThanThereIs) {
  std::set<uint32_t> alive = {1, 2, 3, 4, 70};
  auto store = Store::Open(File(), [&](const ProcessKey& key) { return alive.contains(key.pid); });
  const ProgramKey poor = {"poor", "build-id:poor", ""}, rich = {"rich", "build-id:rich", ""},
                   last = {"last", "build-id:last", ""};
  const auto choose = [](const History& history) { return PlanOf(history, 100); };
  for (const auto& [program, benefit] :
       {std::pair(&poor, 80.0), std::pair(&rich, 8000.0), std::pair(&last, 90.0)}) {
    const auto begun = store->Begin(*program, kMachine, {1, 1, "b"}, choose);
    ASSERT_TRUE(store->EndMeasured(begun->id, {}, {Site("a", benefit, 80)}));
  }
  const auto begin = [&](const ProgramKey& program, uint32_t pid) {
    return *store->Begin(program, kMachine, {pid, 1, "b"}, choose);
  };
  const BegunRun first = begin(poor, 1);
  EXPECT_TRUE(first.refused.empty());
  // The better one gets what the other holds, and is not compared, as it may not get the memory.
  const BegunRun better = begin(rich, 2);
  EXPECT_TRUE(better.refused.empty());
  EXPECT_EQ(store->Yielded(first.id)->size(), 1u);
  EXPECT_TRUE(store->Yielded(better.id)->empty());
  EXPECT_FALSE(store->Load(rich, kMachine)->runs.back().is_comparable);
  // While it runs, another one that needs them less gets nothing.
  const BegunRun refused = begin(last, 3);
  EXPECT_EQ(refused.refused.size(), 1u);
  EXPECT_FALSE(refused.plan.tried.begin()->second);
  // It releases its claim when it ends.
  ASSERT_TRUE(store->End(better.id, {}, [](const History&) { return std::vector<Decision>(); }));
  ASSERT_TRUE(store->End(refused.id, {}, [](const History&) { return std::vector<Decision>(); }));
  ASSERT_TRUE(store->End(first.id, {}, [](const History&) { return std::vector<Decision>(); }));
  EXPECT_TRUE(store->CheckConsistency());
}

TEST_F(StoreTest, ClaimsLastAsLongAsTheProgram) {
  std::set<uint32_t> alive = {1, 2, 3, 70};
  auto store = Store::Open(File(), [&](const ProcessKey& key) { return alive.contains(key.pid); });
  const ProgramKey one = {"one", "build-id:one", ""}, other = {"other", "build-id:other", ""};
  const auto choose = [](const History& history) { return PlanOf(history, 100); };
  for (const ProgramKey* program : {&one, &other}) {
    const auto begun = store->Begin(*program, kMachine, {1, 1, "b"}, choose);
    ASSERT_TRUE(store->EndMeasured(begun->id, {}, {Site("a", 90, 80)}));
  }
  const auto holder = store->Begin(one, kMachine, {1, 1, "b"}, choose);
  ASSERT_TRUE(store->SetProgram(holder->id, {70, 1, "b"}));
  alive.erase(1);  // jprof was killed, and the program still runs
  const auto refused = store->Begin(other, kMachine, {2, 1, "b"}, choose);
  EXPECT_EQ(refused->refused.size(), 1u);
  EXPECT_EQ(store->Load(one, kMachine)->runs.back().state, RunState::kLost);
  ASSERT_TRUE(store->Abandon(refused->id));
  alive.erase(70);
  EXPECT_TRUE(store->Begin(other, kMachine, {3, 1, "b"}, choose)->refused.empty());
}

TEST(Process, IsRecognisedByItsStart) {
  const ProcessKey own = KeyOf(static_cast<uint32_t>(getpid()));
  EXPECT_TRUE(Runs(own));
  EXPECT_FALSE(own.boot.empty());
  ProcessKey other = own;
  ++other.start;
  EXPECT_FALSE(Runs(other));
  other = own;
  other.boot = "another boot";
  EXPECT_FALSE(Runs(other));
  EXPECT_FALSE(Runs({}));
}

}  // namespace
}  // namespace jprof::cpo
