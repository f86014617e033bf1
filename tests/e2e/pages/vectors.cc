// Containers of C++, whose memory operator new gets, and one with a stronger alignment.
#include <cstdio>
#include <vector>

struct alignas(128) Wide {
  char bytes[128];
};

[[gnu::noinline]] std::vector<long> Longs() { return std::vector<long>(1 << 18); }
[[gnu::noinline]] std::vector<Wide> Wides() { return std::vector<Wide>(1 << 14); }

int main() {
  const auto longs = Longs();
  const auto wides = Wides();
  std::printf("Longs %lx %lx\n", reinterpret_cast<unsigned long>(longs.data()),
              longs.size() * sizeof(long));
  std::printf("Wides %lx %lx\n", reinterpret_cast<unsigned long>(wides.data()),
              wides.size() * sizeof(Wide));
}
