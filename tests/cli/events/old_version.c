// Of a library: writes the old version of an event.
#include "shop_events.h"

__attribute__((visibility("default"))) void write_old(void) { shop_orders_order_end(1, 20, 0.25); }
