// Declares the arguments of the commands that record with the agent:
// `jprof callflow|calltree|locks|trace|scs|profile`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/shared/commands.h"
#include "common/result.h"
#include "record/agent/typed_options.h"

namespace jprof::cli {

using record::TypedOptions;

// Declares the options of the mode. `typed` must outlive the parsing.
void AddOptions(CommandLine line, TypedOptions& typed);

// Declares an option of the table by its flag, for a command that makes several recordings. `help`
// replaces that of the table unless it is empty.
void AddOption(CommandLine line, std::string_view flag, TypedOptions& typed, std::string help = "");

inline constexpr uint64_t kRateOfRuns = 1000;  // samples per second

// Declares the options of a command that makes several recordings of a program and reports of one
// JVM: --rate, whose default is kRateOfRuns, --tree-memory, --children, and those of
// AddCommandOptions.
void AddOptionsOfRuns(CommandLine line, TypedOptions& typed);

// Declares --force and --agent, which are options of the command and not of the agent.
void AddCommandOptions(CommandLine line, TypedOptions& typed);

// Declares --series, which is an option of the command, too.
void AddSeriesOption(CommandLine line, TypedOptions& typed);

// Declares --rotate and --keep, which are, too.
void AddRotateOptions(CommandLine line, TypedOptions& typed);

// Fails with kWrongUse if there is no command behind "--", or an argument that is not declared.
Result<void> CheckCommand(const CommandLine& line, const Command& command);

// Holds the arguments for a JVM that runs already.
struct AttachArguments {
  std::string pid;        // --pid; empty if not given
  uint64_t duration = 0;  // seconds of --duration in commands that have none for the agent
};

// Declares --pid, and --duration where the mode has no such option. `arguments` must outlive the
// parsing.
void AddAttachOptions(CommandLine line, options::Mode mode, AttachArguments& arguments);

// Fails with kWrongUse if options exclude each other. Call also without --pid.
Result<void> CheckAttach(const CommandLine& line, const TypedOptions& typed,
                         const AttachArguments& arguments, const Command& command);

}  // namespace jprof::cli
