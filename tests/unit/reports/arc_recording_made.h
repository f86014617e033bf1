// A recording of `jprof itrace` without a traced program: two threads of one process in jitted
// code, part of which is replaced at time 500.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "profile/files/recording_meta.h"
#include "profile/log/branch_log.h"
#include "profile/log/sample_log.h"

namespace jprof::reports {

class MadeArcRecording {
 public:
  static constexpr uint64_t kMain = 0x7000, kWork = 0x7100, kHandler = 0x7200, kStub = 0x9000;

  MadeArcRecording() {
    std::string made = (std::filesystem::temp_directory_path() / "arc-XXXXXX").string();
    directory_ = mkdtemp(made.data());
    std::ofstream(directory_ / profile::kRecordingFile) << profile::ToJson(
        {.sampling = "by translated code", .platform = "Linux", .command = "app 5", .notes = {}});
    WriteSamples();
    WriteDump();
    WriteBranches();
  }
  ~MadeArcRecording() { std::filesystem::remove_all(directory_); }
  MadeArcRecording(const MadeArcRecording&) = delete;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  using Kind = profile::BranchKind;

  void WriteSamples() {
    profile::SampleWriter samples;
    (void)samples.Open((directory_ / profile::kSamplesFile).string(), {.cpus = 2, .start_ns = 0});
    samples.Add({.pid = 16, .tid = 16, .event = profile::ThreadNamed{"app"}});
    samples.Add({.pid = 16, .tid = 17, .event = profile::ThreadNamed{"worker"}});
    (void)samples.Close(1000);
  }

  void WriteDump() {
    std::ofstream dump(directory_ / "jit-16.dump", std::ios::binary);
    const uint32_t head[] = {0x4A695444, 1, 40, 62, 0, 16, 0, 0, 0, 0};
    dump.write(reinterpret_cast<const char*>(head), sizeof(head));
    const std::string work = "\x31\xc0\x83\xc0\x01\x39\xf8\x75\xf9\xc3";
    Load(dump, 10, kMain, "app.main",
         std::string("\x53\xbf\x05\x00\x00\x00\xe8\xf5\x00\x00\x00\x0f\x05\x5b\xc3", 15));
    Load(dump, 10, kWork, "app.work", work);
    Load(dump, 10, kHandler, "app.handler", "\xc3");
    Load(dump, 500, kWork, "app.fast", "\x90\xc3");
  }

  static void Load(std::ofstream& dump, uint64_t time, uint64_t address, const std::string& name,
                   const std::string& code) {
    const uint32_t total = static_cast<uint32_t>(56 + name.size() + 1 + code.size());
    const uint32_t head[] = {0, total};
    const uint32_t owner[] = {16, 16};
    const uint64_t rest[] = {address, address, code.size(), 0};
    dump.write(reinterpret_cast<const char*>(head), sizeof(head));
    dump.write(reinterpret_cast<const char*>(&time), sizeof(time));
    dump.write(reinterpret_cast<const char*>(owner), sizeof(owner));
    dump.write(reinterpret_cast<const char*>(rest), sizeof(rest));
    dump << name << '\0' << code;
  }

  void Add(Kind kind, uint64_t from, uint64_t to, uint64_t instructions, uint64_t repeats = 0) {
    branches_.Add({.time_ns = ++time_,
                   .pid = 16,
                   .tid = tid_,
                   .kind = kind,
                   .from = from,
                   .to = to,
                   .instructions = instructions,
                   .repeats = repeats});
  }

  // The loop of work, and its return.
  void Work(uint64_t iterations) {
    Add(Kind::kCall, kMain + 6, kWork, 3);
    for (uint64_t i = 1; i < iterations; ++i)
      Add(Kind::kTaken, kWork + 7, kWork + 2, i == 1 ? 4 : 3);
    Add(Kind::kReturn, kWork + 9, kMain + 11, 4);
    Add(Kind::kSystemCall, kMain + 11, kMain + 13, 1);
  }

  void WriteBranches() {
    (void)branches_.Open((directory_ / profile::kBranchesFile).string(), {.start_ns = 0});
    tid_ = 17;
    time_ = 50;
    Add(Kind::kBegin, 0, kMain, 0);
    Work(5);
    Add(Kind::kEnd, kMain + 14, 0, 1);
    tid_ = 16;
    time_ = 100;
    Add(Kind::kBegin, 0, kMain, 0);
    Add(Kind::kCall, kMain + 6, kWork, 3);
    Add(Kind::kTaken, kWork + 7, kWork + 2, 4);
    Add(Kind::kSignal, kWork + 5, kHandler, 1);
    Add(Kind::kReturn, kHandler, kStub, 1, 9);
    Add(Kind::kSignalReturn, kStub + 7, kWork + 5, 2);
    Add(Kind::kReturn, kWork + 9, kMain + 11, 3);
    time_ = 600;
    Add(Kind::kJump, kMain + 14, kWork, 3);  // app.fast is there now
    Add(Kind::kReturn, kWork + 1, 0x9900, 2);
    Add(Kind::kEnd, 0x9910, 0, 5);
    (void)branches_.Close(1'000'000);
  }

  std::filesystem::path directory_;
  profile::BranchWriter branches_;
  uint64_t time_ = 0;
  uint32_t tid_ = 16;
};

}  // namespace jprof::reports
