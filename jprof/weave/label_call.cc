#include "jprof/weave/label_call.h"

#include "jprof/weave/instructions.h"

namespace jprof::weave {
namespace {

// Returns the instructions that push the argument.
Snippet PushArgument(const LabelAtEntry& label) {
  Snippet push;
  switch (label.source) {
    case LabelSource::kNothing:
      push.U1(opcode::kAconstNull);
      break;
    case LabelSource::kText:
    case LabelSource::kObject:
      push = Load(opcode::kAload, label.local);
      break;
    case LabelSource::kNumber:
      push = Load(opcode::kIload, label.local);
      push.U1(opcode::kI2l);
      break;
    case LabelSource::kLongNumber:
      push = Load(opcode::kLload, label.local);
      break;
  }
  return push;
}

CounterMethod MethodFor(LabelSource source) {
  switch (source) {
    case LabelSource::kNothing:
    case LabelSource::kText:
      return CounterMethod::kLabel;
    case LabelSource::kObject:
      return CounterMethod::kLabelOf;
    case LabelSource::kNumber:
    case LabelSource::kLongNumber:
      break;
  }
  return CounterMethod::kLabelNumber;
}

}  // namespace

Snippet LabelCall(const LabelAtEntry& label, Constants& constants) {
  const Snippet call = Call(MethodFor(label.source), constants);
  if (call.size() == 0) return call;
  Snippet all = PushArgument(label);
  all.Append(call);
  return all;
}

}  // namespace jprof::weave
