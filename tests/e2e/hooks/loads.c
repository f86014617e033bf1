// Loads two libraries one after the other, by default at the same address. Usage: loads LIB LIB
#include <dlfcn.h>

#include "expect.h"

static OUT_OF_LINE void Loads(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  void (*function)(int) = (void (*)(int))dlsym(library, "Function");
  printf("AT %p\n", (void*)function);
  function(5);
  dlclose(library);
}
int main(int count, char** arguments) {
  (void)count;
  for (int i = 0; i < 3; ++i) {
    Loads(arguments[1]);
    Loads(arguments[2]);
  }
  return 0;
}
