// Writes two versions of an event to one trace: new_version TRACE old|new|both
#include "shop_events.h"

void write_old(void);

int main(int argc, char** argv) {
  if (argc != 3 || jprof_events_open(argv[1], NULL) != 0) return 1;
  jprof_events_set_level("*", JPROF_EVENTS_LOG | JPROF_EVENTS_STATISTICS);
  if (strcmp(argv[2], "new") != 0)
    for (int i = 0; i < 2; ++i) write_old();
  if (strcmp(argv[2], "old") != 0)
    for (int i = 0; i < 3; ++i) shop_orders_order_end(1, 30, 7, 0.5);
  jprof_events_close();
  return 0;
}
