#include "calibrate/store/run_history.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "calibrate/store/table_store.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "profile/files/json_fields.h"
#include "profile/files/printable_text.h"
#include "profile/read/reader_file.h"

namespace jprof::calibrate {
namespace {

using nlohmann::json;
using profile::JsonFields;
using profile::RunSpread;
using profile::RunSpreads;

constexpr uint64_t kBytesRead = 1 << 18;  // at the end of the file
constexpr size_t kNewest = 200;           // records that count
constexpr size_t kNewestOwn = 10;         // of these, of one program
// Greater numbers cannot be those of a profile.
constexpr double kMostRelative = 10, kMostFreedom = 100;

json ToJson(const RunSpread& spread) { return json::array({spread.relative, spread.freedom}); }

RunSpread SpreadIn(const JsonFields& fields, const char* name) {
  const json& pair = fields.At(name);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
    return {};
  const RunSpread spread = {pair[0].get<double>(), pair[1].get<double>()};
  const bool is_usable = spread.relative >= 0 && spread.relative < kMostRelative &&
                         spread.freedom >= 1 && spread.freedom < kMostFreedom;
  return is_usable ? spread : RunSpread{};
}

double Squares(const RunSpread& spread) {
  return spread.freedom * spread.relative * spread.relative;
}

// Returns the scale of the spreads of all programs by maximum likelihood. A program's variance is
// the scale's square times freedom / chi-square (Smyth 2004: the variance found then has an
// F distribution, which a few programs that differ much do not disturb). The default counts as that
// of kDefault profiles.
double ScaleOf(std::span<const RunRecord> history, RunSpread RunSpreads::*usual,
               RunSpread RunRecord::*found) {
  constexpr double kDefault = 10;
  constexpr int kSteps = 60;
  const RunSpread start = RunSpreads().*usual;
  const auto slope = [&](double scale) {
    const double prior = start.freedom * scale * scale;
    const auto of = [&](const RunSpread& spread) {
      if (!(spread.freedom > 0)) return 0.0;
      const double squares = Squares(spread);
      return (spread.freedom + start.freedom) * squares / (prior + squares) - spread.freedom;
    };
    double sum = kDefault * of({start.relative, 1});
    for (const RunRecord& record : history) sum += of(record.*found);
    return sum;
  };
  double low = 1e-4, high = 10;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = std::sqrt(low * high);
    (slope(middle) > 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

RunSpread Usual(std::span<const RunRecord> history, std::span<const RunRecord> own,
                RunSpread RunSpreads::*usual, RunSpread RunRecord::*found) {
  RunSpread learned = {ScaleOf(history, usual, found), (RunSpreads().*usual).freedom};
  for (const RunRecord& record : own) learned = Pooled(learned, record.*found);
  return learned;
}

}  // namespace

uint64_t ProgramId(const std::vector<std::string>& command) {
  Fingerprint parts;
  for (size_t i = 0; i < command.size(); ++i)
    parts[fmt::format("{:06}", i)] = profile::CleanText(command[i]);
  return Hash(parts);
}

std::filesystem::path HistoryPath() { return DataDirectory().parent_path() / "runs.jsonl"; }

std::vector<RunRecord> ReadHistory() {
  const profile::ReaderFile file(AT_FDCWD, HistoryPath().c_str());
  std::vector<RunRecord> records;
  if (!file.exists()) return records;
  const uint64_t bytes = std::min(file.size(), kBytesRead);
  std::string text(bytes, '\0');
  text.resize(file.ReadAt(file.size() - bytes, text.data(), bytes));
  std::istringstream lines(std::move(text));  // the first line may be the rest of one
  for (std::string line; std::getline(lines, line);) {
    const json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
    const JsonFields fields(value);
    RunRecord record = {.total = SpreadIn(fields, "total"),
                        .share = SpreadIn(fields, "share"),
                        .own_share = SpreadIn(fields, "own_share")};
    fields.Read("program", record.program);
    if (record.total.freedom > 0) records.push_back(record);
  }
  if (records.size() > kNewest) records.erase(records.begin(), records.end() - kNewest);
  return records;
}

Result<void> AddToHistory(const RunRecord& record) {
  const std::filesystem::path path = HistoryPath();
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  const json value = {{"program", record.program},
                      {"total", ToJson(record.total)},
                      {"share", ToJson(record.share)},
                      {"own_share", ToJson(record.own_share)}};
  // A line that was written in part only ends with it.
  const std::string line = "\n" + value.dump() + "\n";
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file) return Fail("cannot write {}: {}", path.string(), ErrnoText());
  const ssize_t written = write(file.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  return Fail("cannot write {}: {}", path.string(),
              written < 0 ? ErrnoText() : "only a part was written");
}

RunSpreads UsualSpreads(std::span<const RunRecord> history, uint64_t program) {
  std::vector<RunRecord> own;
  for (size_t i = history.size(); i-- > 0 && own.size() < kNewestOwn;)
    if (program != kNoProgram && history[i].program == program) own.push_back(history[i]);
  return {.total = Usual(history, own, &RunSpreads::total, &RunRecord::total),
          .share = Usual(history, own, &RunSpreads::share, &RunRecord::share),
          .own_share = Usual(history, own, &RunSpreads::own_share, &RunRecord::own_share),
          .profiles = history.size()};
}

}  // namespace jprof::calibrate
