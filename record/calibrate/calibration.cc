#include "record/calibrate/calibration.h"

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "calibrate/store/table_store.h"
#include "record/run/interrupt_cost.h"
#include "record/run/interruption.h"
#include "record/run/temporary_folder.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// The directory for the trainers' files: the one that the user chose, which is kept, or a temporary
// one.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& wanted) {
    std::error_code failed;
    if (wanted.empty()) {
      path_ = temporary_.emplace("jprof-calibrate").path();
    } else if (fs::create_directories(wanted, failed); !failed) {
      path_ = wanted;
    }
  }
  const fs::path& path() const { return path_; }  // empty if it could not be made

 private:
  std::optional<TemporaryFolder> temporary_;
  fs::path path_;
};

// Trains with counted instructions, and adds these to the table. Returns how many overheads became
// lower.
Result<int> AddTracedInstructions(const calibrate::Plan& plan, calibrate::Table& table) {
  const auto traced = calibrate::Train(TracedPlan(plan));
  if (!traced) return std::unexpected(traced.error());
  int lowered = 0;
  for (calibrate::Metric& metric : table.metrics) {
    if (metric.unit == "ns")
      lowered = calibrate::AddInstructions(traced->table.metrics.front(), metric);
  }
  return lowered;
}

}  // namespace

Result<CalibrationResult> Calibrate(calibrate::Plan plan, const CalibrationRequest& request) {
  const Interruption guard;  // a signal must not leave the working directory behind
  const WorkDirectory work(request.work);
  if (work.path().empty())
    return Fail("cannot create a working directory: set TMPDIR, or name one with --work");
  plan.work = work.path();

  const auto start = std::chrono::steady_clock::now();
  CalibrationResult made = {.interrupt = MeasureAndKeepInterruptNanos()};
  auto trained = calibrate::Train(plan);
  Result<int> lowered = 0;
  if (trained && request.itrace) lowered = AddTracedInstructions(plan, trained->table);
  if (Interruption::Number() != 0) return Fail("interrupted: no table was stored");
  if (!trained) return std::unexpected(trained.error());
  if (!lowered) return std::unexpected(lowered.error());
  auto path = calibrate::SaveTable(trained->table, request.output);
  if (!path) return std::unexpected(path.error());
  made.trained = *std::move(trained);
  made.traced = request.itrace;
  made.lowered = *lowered;
  made.path = *std::move(path);
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace jprof::record
