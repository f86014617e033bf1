//@ group values
//@ variants
//@ jvm -Xmx64m
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Objects that the collectors move in a small heap while probes run; the program counts its own
 * calls.
 */
final class Collections {
  static final class Key implements Comparable<Key> {
    static int hashes, equals, compares, made;
    final int value;

    Key(int value) {
      ++made;
      this.value = value;
    }

    @Override
    public int hashCode() {
      ++hashes;
      return value * 31;
    }

    @Override
    public boolean equals(Object o) {
      ++equals;
      return o instanceof Key && ((Key) o).value == value;
    }

    @Override
    public int compareTo(Key other) {
      ++compares;
      return Integer.compare(value, other.value);
    }
  }

  static byte[] garbage(int n) {
    return new byte[n];
  }

  public static void main(String[] args) {
    int n = 20_000;
    Map<Key, Integer> hash = new HashMap<>();
    Map<Key, Integer> tree = new TreeMap<>();
    List<byte[]> kept = new ArrayList<>();
    long found = 0;
    for (int i = 0; i < n; ++i) {
      hash.put(new Key(i % 997), i);
      tree.put(new Key(i % 499), i);
      found += hash.get(new Key(i % 1500)) != null ? 1 : 0;
      kept.add(garbage(1024));
      if (kept.size() > 2000) kept.clear();
    }
    Expect.that(found > 0 && hash.size() == 997 && tree.size() == 499, "maps");
    Expect.calls("Collections$Key.<init>(I)V", Key.made);
    Expect.calls("Collections$Key.hashCode()I", Key.hashes);
    Expect.calls("Collections$Key.equals(Ljava/lang/Object;)Z", Key.equals);
    Expect.calls("Collections$Key.compareTo(LCollections$Key;)I", Key.compares);
    Expect.calls("Collections.garbage(I)[B", n);
  }
}
