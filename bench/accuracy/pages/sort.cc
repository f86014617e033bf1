// Sorts keys by three passes of a radix sort, and brings the records into their order.
// Arguments: MiB of arrays, rounds.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "random_numbers.h"

namespace {

struct Item {
  uint32_t key, index;
};
struct Record {
  uint64_t fields[4];
};
constexpr unsigned kBits = 11;

void Pass(const std::vector<Item>& from, std::vector<Item>& to, unsigned shift) {
  std::vector<uint32_t> begins((1u << kBits) + 1);
  const uint32_t mask = (1u << kBits) - 1;
  for (const Item& item : from) ++begins[((item.key >> shift) & mask) + 1];
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  for (const Item& item : from) to[begins[(item.key >> shift) & mask]++] = item;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t size = (std::strtoull(arguments[1], nullptr, 10) << 20) / 80;
  std::vector<Item> items(size);
  std::vector<Item> buffer(size);
  std::vector<Record> records(size);
  std::vector<Record> sorted(size);
  uint64_t state = 88172645463325252u;
  for (int left = std::atoi(arguments[2]); left > 0; --left) {
    for (uint32_t i = 0; i < size; ++i) {
      items[i] = {Below(&state, ~0u), i};
      records[i].fields[i % 4] = i;
    }
    Pass(items, buffer, 0);
    Pass(buffer, items, kBits);
    Pass(items, buffer, 2 * kBits);
    for (size_t i = 0; i < size; ++i) sorted[i] = records[buffer[i].index];
  }
  std::printf("%lu\n", static_cast<unsigned long>(sorted[size / 2].fields[1]));
}
