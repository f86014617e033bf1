// The library libjprof_java.so, which the commands preload beside JAVA_TOOL_OPTIONS. It moves the
// agent from that variable to the arguments of a launcher of the JDK (java, javac, keytool),
// because HotSpot prints the variable's value on the standard error. It depends on no other
// library, because it is preloaded into every program of a command, also into those that never
// start a JVM.
#include <stddef.h>

#include "options/tool_options.h"

extern "C" {

// Functions of the C library, which every program has. They are declared here because a header
// could redirect the calls to other functions.
char* getenv(const char* name);
int setenv(const char* name, const char* value, int replaces);
int unsetenv(const char* name);
void* dlsym(void* handle, const char* name);
void* malloc(size_t bytes);
char* strstr(const char* text, const char* part);
size_t strlen(const char* text);
size_t strspn(const char* text, const char* all);
size_t strcspn(const char* text, const char* ends);
long write(int file, const void* bytes, size_t count);
void* memcpy(void* to, const void* from, size_t bytes);

using Launch = int(int count, char** arguments, int jdk_count, const char** jdk_arguments,
                   int class_count, const char** class_path, const char* full_version,
                   const char* dot_version, const char* program, const char* launcher,
                   unsigned char is_tool, unsigned char class_path_wildcards,
                   unsigned char without_console, int ergonomics);
}

namespace {

using namespace jprof::options;

constexpr char kNoLauncher[] = "jprof: the launcher of this JDK has no function JLI_Launch\n";
void* const kNext = reinterpret_cast<void*>(-1);  // RTLD_NEXT

constexpr char kBlanks[] = " \t\n";

// Represents a word of the variable, which starts at `begin`.
struct Word {
  const char* begin = nullptr;
  size_t bytes = 0;
};

// Returns the word that loads the agent. Its `begin` is null if there is none or if it contains
// quotes.
Word AgentIn(const char* options) {
  for (const char* at = options; *at != '\0';) {
    at += strspn(at, kBlanks);
    const Word word = {at, strcspn(at, kBlanks)};
    at += word.bytes;
    const char* const library = strstr(word.begin, kAgentLibraryInOptions);
    const bool loads =
        strstr(word.begin, kLoads) == word.begin && library != nullptr && library < at;
    if (loads && strcspn(word.begin, "'\"") >= word.bytes) return word;
  }
  return {};
}

// Returns `before`, the word and `after` concatenated in new memory, or null if there is no memory.
char* Joined(const char* before, size_t before_bytes, Word word, const char* after) {
  const size_t after_bytes = strlen(after);
  char* const text = static_cast<char*>(malloc(before_bytes + word.bytes + after_bytes + 1));
  if (text == nullptr) return nullptr;
  memcpy(text, before, before_bytes);
  memcpy(text + before_bytes, word.begin, word.bytes);
  memcpy(text + before_bytes + word.bytes, after, after_bytes + 1);
  return text;
}

// Returns the arguments with `first` inserted after the program's name, or null if there is no
// memory.
char** WithFirst(int count, char** arguments, char* first) {
  auto** const all = static_cast<char**>(malloc((static_cast<size_t>(count) + 2) * sizeof(char*)));
  if (all == nullptr || first == nullptr) return nullptr;
  all[0] = arguments[0];
  all[1] = first;
  for (int i = 1; i <= count; ++i) all[i + 1] = arguments[i];
  return all;
}

// Removes the agent from the variable. The agent restores the variable for the programs that the
// JVM starts.
void Hide(const char* options, Word agent) {
  setenv(kToolOptionsKept, options, 1);
  size_t before = static_cast<size_t>(agent.begin - options);
  const char* after = agent.begin + agent.bytes;
  if (before > 0 && *after == '\0') --before;  // the blank between
  char* const rest = Joined(options, before, {}, after);
  if (rest == nullptr || rest[0] == '\0')
    unsetenv(kToolOptions);
  else
    setenv(kToolOptions, rest, 1);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int JLI_Launch(
    int count, char** arguments, int jdk_count, const char** jdk_arguments, int class_count,
    const char** class_path, const char* full_version, const char* dot_version, const char* program,
    const char* launcher, unsigned char is_tool, unsigned char class_path_wildcards,
    unsigned char without_console, int ergonomics) {
  auto* const next = reinterpret_cast<Launch*>(dlsym(kNext, "JLI_Launch"));
  if (next == nullptr) {
    (void)!write(2, kNoLauncher, sizeof kNoLauncher - 1);
    return 1;
  }
  const char* const options = getenv(kToolOptions);
  const Word agent = options != nullptr && count > 0 ? AgentIn(options) : Word{};
  if (agent.begin != nullptr) {
    char* const argument = Joined("-J", is_tool != 0 ? 2 : 0, agent, "");
    if (char** const all = WithFirst(count, arguments, argument); all != nullptr) {
      Hide(options, agent);
      arguments = all;
      ++count;
    }
  }
  return next(count, arguments, jdk_count, jdk_arguments, class_count, class_path, full_version,
              dot_version, program, launcher, is_tool, class_path_wildcards, without_console,
              ergonomics);
}
