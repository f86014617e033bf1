// Labels: what a program calls the work that a method does from here on, "GET /cart". A label is a
// node of the call tree below the method that has set it, and what the method calls while it is set
// is below the label (docs/LABELS.md). It ends when the method ends, sets another one, or clears
// it.
//
// A label is no call: its node counts how often it was set there, in one 64-bit number, and it has
// no exits. To set one is timed by itself, so that its cost is in no interval of callflow.
#pragma once

#include <cstdint>
#include <string_view>

#include "jprof/engine/method_table.h"
#include "jprof/engine/recording.h"
#include "profile/files/layout.h"

namespace jprof::engine {

class Session;
struct Thread;

// A session has at most this many labels. What is set beyond them is the label kOtherLabels.
inline constexpr uint32_t kMostLabels = 10'000;
inline constexpr std::string_view kOtherLabels = "(other labels)";
// Texts are cut off after this many bytes.
inline constexpr size_t kLongestLabel = 500;

// Describes labels, which are given as addresses of a std::string_view with the text.
class LabelNames final : public MethodSource {
 public:
  bool Describe(uint64_t text, MethodText* label) override {
    label->class_name = "label";
    label->name = *reinterpret_cast<const std::string_view*>(text);
    label->flags = profile::kMethodLabel;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kLabel; }
};

// Returns the id of the label with this text. It is that of kOtherLabels if there are kMostLabels
// others; `is_other` is then true. May take the session's locks.
struct LabelId {
  profile::MethodId id{};
  bool is_other = false;
};
LabelId FindLabel(Session& session, std::string_view text);

// Makes labels usable in a child made by fork(), also if a thread of the parent, which the child
// does not have, was adding one. Requires that the child has one thread.
void AbandonLabelsInChild();

// Makes the label with this text the current node of a thread with a shadow stack. Its innermost
// frame is that of the method. Does nothing if there is no memory.
void PushLabel(Thread& thread, std::string_view text);

// Returns the method reference of the mark with this text: that of the label "mark TEXT". May take
// the session's locks.
profile::MethodRef FindMark(Session& session, std::string_view text);
// Counts a mark in the current context of a thread with a shadow stack, which stays the current
// one. Outside of any recorded method it is below the thread row.
void CountMark(Thread& thread, std::string_view text);

// Sets a label, as SetLabel of event.h, or counts a mark, as Mark.
using LabelFunction = void (*)(std::string_view text);
// Return the functions for a kind of recording. `train` is as for Visit.
LabelFunction LabelFunctionFor(RecordingKind kind, bool train);
LabelFunction MarkFunctionFor(RecordingKind kind, bool train);

}  // namespace jprof::engine
