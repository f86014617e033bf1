// Executes the shapes or the ordinary programs of hook_shapes.c and prints the cost of one walk of
// each, as Transitions.java and Library.java do: "shape ShapeFF sLv1 12.34 56.0" (ns, median of the
// rounds; then the counts of the named counters: the difference of two loops, one twice as long,
// the least of the rounds). Before that, "function 0x12ab jprof/trainers/ShapeFF sLv1" for each
// function of the copy: its link address, which a profile has instead of its name.
//
//   jprof-hook-trainer plain|hooked shapes|kernels CALLS ROUNDS [COUNTER+COUNTER]
#include <dlfcn.h>
#include <link.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "hook_shapes.h"
#include "ptm/event_group.h"

namespace {

using namespace jprof;

constexpr long kWarmUp = 20;

double Nanos() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

[[noreturn]] void GiveUp(const std::string& why) {
  fprintf(stderr, "jprof: the trainer's counters: %s\n", why.c_str());
  exit(1);
}

void Open(ptm::EventGroup& group, std::string_view counters) {
  std::vector<ptm::EventSpec> events;
  for (const auto part : std::views::split(counters, '+')) {
    auto event = ptm::DecodeMetric(std::string_view(part));
    if (!event) GiveUp(event.error().message);
    events.push_back(*std::move(event));
  }
  if (const auto failure = group.Open(events); failure.Failed())
    GiveUp("cannot count " + events[static_cast<size_t>(failure.event)].name);
}

void PrintFunctions(const HookProgram* programs) {
  for (; programs->name != nullptr; ++programs) {
    Dl_info info = {};
    if (dladdr(programs->function, &info) == 0) GiveUp("the program has no base address");
    const char* const base = static_cast<const char*>(info.dli_fbase);
    printf("function %#zx %s %s\n",
           static_cast<size_t>(static_cast<const char*>(programs->function) - base),
           programs->class_name, programs->name);
  }
}

struct Shape {
  const HookProgram* program;
  std::vector<double> nanos;
  std::vector<double> counts;
};

using Drive = void (*)(void (*walk)(), long calls);

void Count(ptm::EventGroup& group, Drive drive, Shape& shape, long calls) {
  int64_t before[ptm::kMaxEvents] = {}, between[ptm::kMaxEvents] = {}, after[ptm::kMaxEvents] = {};
  group.ReadAll(before);
  drive(shape.program->walk, calls);
  group.ReadAll(between);
  drive(shape.program->walk, 2 * calls);
  group.ReadAll(after);
  for (size_t i = 0; i < shape.counts.size(); ++i) {
    const auto more = static_cast<double>(after[i] - between[i] - (between[i] - before[i]));
    shape.counts[i] = std::min(shape.counts[i], more / static_cast<double>(calls));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "Usage: %s plain|hooked shapes|kernels CALLS ROUNDS [COUNTERS]\n", argv[0]);
    return 2;
  }
  const HookCopy& copy = std::string_view(argv[1]) == "hooked" ? hook_copy_hooked : hook_copy_plain;
  const bool kernels = std::string_view(argv[2]) == "kernels";
  const long calls = std::max(1l, atol(argv[3]));
  const auto rounds = static_cast<size_t>(std::max(1l, atol(argv[4])));
  ptm::EventGroup group;
  if (argc > 5) Open(group, argv[5]);

  std::vector<Shape> shapes;
  for (const HookProgram* program = copy.programs; program->name != nullptr; ++program) {
    const bool kernel = std::string_view(program->class_name).ends_with("Library");
    if (program->walk == nullptr || kernel != kernels) continue;
    shapes.push_back({program, {}, std::vector<double>(static_cast<size_t>(group.size()), 1e300)});
  }
  const Drive drive = kernels ? copy.measure_kernel : copy.drive_shape;
  for (const Shape& shape : shapes) copy.drive_kernel(shape.program->walk, kWarmUp);
  for (size_t round = 0; round < rounds; ++round) {
    for (Shape& shape : shapes) {
      const double start = Nanos();
      drive(shape.program->walk, calls);
      shape.nanos.push_back((Nanos() - start) / static_cast<double>(calls));
      if (group.size() > 0) Count(group, drive, shape, calls);
    }
  }
  PrintFunctions(copy.programs);
  for (Shape& shape : shapes) {
    std::ranges::sort(shape.nanos);
    const std::string_view name = shape.program->class_name;
    printf("shape %s %s %.3f", name.substr(name.rfind('/') + 1).data(), shape.program->name,
           shape.nanos[rounds / 2]);
    for (const double count : shape.counts) printf(" %.3f", count);
    printf("\n");
  }
  printf("done\n");
  return 0;
}
