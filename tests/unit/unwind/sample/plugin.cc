// A library that tests map and unmap.
extern "C" __attribute__((visibility("default"), noinline)) int CallThroughPlugin(
    void (*visit)(void*), void* data) {
  visit(data);
  return 1;
}
