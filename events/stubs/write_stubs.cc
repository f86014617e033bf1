// Writes the stubs of a specification for the build: write_stubs SPECIFICATION FOLDER. They are
// those of `jprof events generate --language c++`.
#include <cstdio>
#include <fstream>

#include "events/generate/generate.h"
#include "events/spec/read_specification.h"

int main(int count, char** arguments) {
  using namespace jprof::events;
  if (count != 3) return 2;
  const auto specification = ReadSpecification(arguments[1]);
  if (!specification) {
    std::fprintf(stderr, "%s\n", specification.error().message.c_str());
    return 1;
  }
  for (const GeneratedFile& file : GenerateCpp(*specification)) {
    std::ofstream out(std::string(arguments[2]) + "/" + file.name, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) return 1;
  }
  return 0;
}
