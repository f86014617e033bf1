// The functions that hook_trainer.cc calls, in two copies: compiled with hooks and without.
#pragma once

struct HookProgram {
  const char* class_name;  // as of the Java trainers: calibrate/train/observation.cc knows these
  const char* name;
  void (*walk)(void);    // of a shape or kernel; null: a function that one of them calls
  const void* function;  // its address, which a profile has instead of its name
};

struct HookCopy {
  const struct HookProgram* programs;  // ends with an entry without a name
  void (*drive_shape)(void (*walk)(void), long calls);
  void (*measure_kernel)(void (*walk)(void), long calls);
  void (*drive_kernel)(void (*walk)(void), long calls);
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct HookCopy hook_copy_plain;
extern const struct HookCopy hook_copy_hooked;
#ifdef __cplusplus
}
#endif
