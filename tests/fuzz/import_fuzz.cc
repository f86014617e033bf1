// libFuzzer: reads any bytes as each format of other profilers. There must be no crash, no
// sanitizer report and no endless loop; what is read must be a tree with the right sum.
#include <string>

#include "profile/import/importer.h"

namespace {

using namespace jprof::profile;

void CheckTree(const SampleTree& tree) {
  int64_t samples = 0;
  const auto nodes = tree.nodes();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const bool is_row = MethodOf(nodes[i].ref) == kRootMethod;
    if (is_row ? nodes[i].parent != i : nodes[i].parent >= i) __builtin_trap();
    if (IndexOf(MethodOf(nodes[i].ref)) > tree.methods().size()) __builtin_trap();
    samples += nodes[i].count;
  }
  if (static_cast<uint64_t>(samples) != tree.samples()) __builtin_trap();
  for (const SampleTree::Method& method : tree.methods()) {
    if (method.class_name.size() > 0xffff || method.name.size() > 0xffff ||
        method.signature.size() > 0xffff)
      __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ChooseFormat("", bytes, "input");
  for (const ForeignFormat& format : ForeignFormats()) {
    SampleTree tree;
    const auto run = ReadForeign(format, bytes, "input", {}, tree);
    CheckTree(tree);
    if (run && run->meta.metrics.size() != 1) __builtin_trap();
  }
  return 0;
}
