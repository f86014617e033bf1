// The same from C++: program DIRECTORY COUNT
#include <cstdio>
#include <cstdlib>

#include "shop_events.hpp"

int main(int, char** argv) {
  using namespace shop::orders;
  if (jprof_events_open(argv[1], nullptr) != 0) return 1;
  if (!order_begin_is_on() || nothing_is_on()) return 2;  // the levels of the specification
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    order_begin(1, 2, "me", order_begin_kind::cash);
    order_end(2, i, 0.5);
  }
  jprof_events_close();
  nothing_record record;
  return static_cast<int>(nothing_read("", 0, record));
}
