// Records page faults, and compares what the model of pages predicts from a part of a program's
// references with a simulation of all of them. bench/accuracy/pages.py runs it.
//
//   pages_model faults FILE -- PROGRAM [ARGUMENT]...
//       Runs the program and writes the addresses of all its page faults to FILE.
//   pages_model faults-of FOLDER FILE
//       Prints what is predicted of faults, from the log of libjprof-pages.so in FOLDER. CSV: pages
//       of 2 MiB, PMB, faults without large pages, faults with them, group.
//   pages_model walks-of FOLDER FILE LENGTH EVERY
//       Prints what is predicted of walks from bursts of LENGTH references, one in EVERY, of the
//       file `memory` of `jprof itrace --memory`, and what all references show. CSV: PMB by the
//       bursts, its standard error, PMB by all references, walks by all that large pages save,
//       group.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "cpo/agents/pages/fault_recorder.h"
#include "cpo/agents/pages/recorded_pages.h"
#include "cpo/model/page_model.h"
#include "profile/files/whole_file.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

// Passes one burst of `length` references in each `length` * `every` of another stream, the middle
// ones.
class PartOfReferences final : public ReferenceStream {
 public:
  PartOfReferences(std::unique_ptr<ReferenceStream> all, uint64_t length, uint64_t every)
      : all_(std::move(all)), length_(length), period_(length * every) {}

  bool NextBurst() override {
    const uint64_t begin = bursts_++ * period_ + (period_ - length_) / 2;
    end_ = begin + length_;
    Reference skipped;
    while (at_ < begin) {
      if (!NextOfAll(skipped)) return false;
    }
    return true;
  }
  bool Next(Reference& reference) override { return at_ < end_ && NextOfAll(reference); }

 private:
  bool NextOfAll(Reference& reference) {
    while (!all_->Next(reference)) {
      if (!all_->NextBurst()) return false;
    }
    ++at_;
    return true;
  }

  const std::unique_ptr<ReferenceStream> all_;
  const uint64_t length_, period_;
  uint64_t bursts_ = 0, at_ = 0, end_ = 0;
};

// Writes addresses of faults to a file, and reads them. Fails if that is not possible.
Result<void> WriteFaults(const fs::path& path, const std::vector<Reference>& faults) {
  std::string text;
  for (const Reference& fault : faults)
    fmt::format_to(std::back_inserter(text), "{:x} {}\n", fault.address, fault.time_ns);
  return profile::WriteWholeFile(path.string(), text);
}

Result<std::vector<Reference>> ReadFaults(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return Fail("cannot read {}", path.string());
  std::vector<Reference> faults;
  Reference fault;
  while (file >> std::hex >> fault.address >> std::dec >> fault.time_ns) faults.push_back(fault);
  return faults;
}

Result<void> RecordFaults(const fs::path& file, char** command) {
  int go[2];
  if (pipe(go) != 0) return Fail("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    close(go[1]);
    if (read(go[0], &byte, 1) == 1) execvp(command[0], command);
    _exit(127);
  }
  auto recorder = FaultRecorder::Start(static_cast<uint32_t>(child));
  if (recorder && write(go[1], "", 1) != 1) recorder = Fail("the program did not start");
  close(go[0]);
  close(go[1]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!recorder) return std::unexpected(recorder.error());
  if (status != 0) return Fail("the program failed: status {}", status);
  const std::vector<Reference> faults = (*recorder)->Finish();
  if ((*recorder)->lost() != 0) return Fail("{} faults were lost", (*recorder)->lost());
  return WriteFaults(file, faults);
}

// Returns the model of the only process in the folder.
Result<PageModel> Load(const fs::path& folder, ReferenceStream& references,
                       ReferenceStream& faults) {
  const std::vector<Log> logs = ReadLogs(folder);
  if (logs.size() != 1) return Fail("{} has {} logs, not one", folder.string(), logs.size());
  const Log& log = logs.front();
  return PageModel::Load(GroupsOf(log), log.placements, references, faults, {.tlb = ThisTlb()});
}

Result<void> PrintFaults(const fs::path& folder, const fs::path& file) {
  auto read = ReadFaults(file);
  if (!read) return std::unexpected(read.error());
  StoredReferences faults({*std::move(read)});
  StoredReferences no_references({});
  const auto model = Load(folder, no_references, faults);
  if (!model) return std::unexpected(model.error());
  for (const PagePrediction& one : model->Alone())
    fmt::print("{},{:.4f},{},{},{}\n", one.huge_pages, one.pmb_faults.value, model->none().faults,
               one.faults, model->groups()[one.groups.front()].key);
  return {};
}

Result<void> PrintWalks(const fs::path& folder, const fs::path& file, uint64_t length,
                        uint64_t every) {
  StoredReferences no_faults({});
  const auto all_references = ReadBursts({file});
  const auto all = Load(folder, *all_references, no_faults);
  if (!all) return std::unexpected(all.error());
  PartOfReferences bursts(ReadBursts({file}), length, every);
  const auto part = Load(folder, bursts, no_faults);
  if (!part) return std::unexpected(part.error());
  fmt::print(stderr, "{},{},{},{},{}\n", all->references(), part->references(), part->bursts(),
             all->none().walks, all->all().walks);
  for (const PagePrediction& actual : all->Alone()) {
    const PagePrediction predicted = part->Predict(actual.groups);
    fmt::print("{:.4f},{:.4f},{:.4f},{},{}\n", predicted.pmb_walks.value,
               predicted.pmb_walks.error.value_or(0), actual.pmb_walks.value,
               static_cast<int64_t>(all->none().walks - actual.walks),
               all->groups()[actual.groups.front()].key);
  }
  return {};
}

Result<void> Run(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "faults" && count > 4) return RecordFaults(arguments[2], arguments + 4);
  if (mode == "faults-of" && count == 4) return PrintFaults(arguments[2], arguments[3]);
  if (mode == "walks-of" && count == 6)
    return PrintWalks(arguments[2], arguments[3], std::strtoull(arguments[4], nullptr, 10),
                      std::strtoull(arguments[5], nullptr, 10));
  return Fail("see the first lines of bench/accuracy/pages_model.cc");
}

}  // namespace
}  // namespace jprof::cpo

int main(int count, char** arguments) {
  if (auto run = jprof::cpo::Run(count, arguments); !run) {
    fmt::print(stderr, "pages_model: {}\n", run.error().message);
    return 1;
  }
}
