// Implements the client of HotSpot's attach protocol on Linux: has a running JVM load the agent, or
// execute another command.
// - The JVM listens at /tmp/.java_pidPID, with its own number and its own /tmp, once a file
//   /tmp/.attach_pidPID and SIGQUIT have requested it. Only one SIGQUIT is sent: if the JVM already
//   listened when it handled a second one, it would print the stacks of its threads.
// - A request is "1", the command and three arguments, each with a zero byte at its end. The reply
//   is a line with a number, then text, then the end of the stream.
// - SIGQUIT would end a process that has no handler for it: FindTarget looks for one first.
// - The JVM serves only its own user and, from JDK 11 or so, root: root becomes
//   that user meanwhile.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "record/attach/attach_target.h"

namespace jprof::record {

// The effect of a signal to this process (record/run/interruption.h) while no request has
// been sent to the JVM.
enum class OnSignal { kGiveUp, kGoOn };

// Has the JVM load the agent `library`, an absolute path in the JVM's root directory, and run its
// Agent_OnAttach with `options`. Returns the result of Agent_OnAttach, 0 for success. Fails if the
// JVM does not reply, or could not load the library; the message has the JVM's reason.
Result<int> LoadAgent(const AttachTarget& target, const std::string& library,
                      const std::string& options, OnSignal on_signal);

// Sends a request to the JVM and returns its reply. Fails if there is none within `seconds` or,
// with kGiveUp, after a signal.
Result<std::string> Ask(const AttachTarget& target, std::string_view request, OnSignal on_signal,
                        double seconds);

// Returns a request, which has three arguments.
std::string AttachRequest(std::string_view command, std::string_view first, std::string_view second,
                          std::string_view third);

// Removes a number and its line end from the beginning of a reply and returns the number, or
// nothing if there is none.
std::optional<int> TakeNumber(std::string_view& text);

// These are the parts of LoadAgent, for tests.

inline constexpr size_t kMostAttachArgument = 1024;  // in bytes, before JDK 24

// Returns the request. Fails with kWrongUse if the options are too long for the protocol.
Result<std::string> LoadRequest(std::string_view library, std::string_view options);

// Returns the reply to a request to the process `pid`. Fails if there is none within `seconds` or,
// with kGiveUp, after a signal.
Result<std::string> ExchangeRequest(int connection, std::string_view request, uint32_t pid,
                                    double seconds, OnSignal on_signal = OnSignal::kGoOn);

// Returns the result of Agent_OnAttach. Fails if the library was not loaded, or if the
// reply is incomplete.
Result<int> ParseLoadAnswer(std::string_view answer, uint32_t pid);

// Fails if another user made the socket or could connect to it.
Result<void> CheckSocket(const struct stat& status, uid_t user);

}  // namespace jprof::record
