// generate_events LANGUAGE SPEC DIR: writes the generated files of a specification, for the build.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "events/generate/generate.h"
#include "events/spec/read_specification.h"

namespace {

int Fail(std::string_view text) {
  fmt::print(stderr, "generate_events: {}\n", text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace jprof::events;
  if (argc != 4) return Fail("usage: generate_events LANGUAGE SPEC DIR");
  const auto specification = ReadSpecification(argv[2]);
  if (!specification) return Fail(specification.error().message);
  for (const Language& language : kLanguages) {
    if (language.name != argv[1]) continue;
    for (const GeneratedFile& file : language.generate(*specification)) {
      const std::filesystem::path path = std::filesystem::path(argv[3]) / file.name;
      if (!(std::ofstream(path) << file.text).flush()) return Fail(path.string() + ": not written");
    }
    return 0;
  }
  return Fail("unknown language");
}
