import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Makes about args[1] million objects of several shapes, and writes the heap to the file args[0]: a
 * long list, a tree, a map with strings, arrays, small lists that share their elements, and records
 * that refer to each other at random.
 */
final class HeapShapes {
  record Link(Link next, long value) {}

  record Tree(Tree left, Tree right, int key) {}

  static final class Record {
    Record other;
    final byte[] payload = new byte[120];
  }

  private static Link list(int size) {
    Link last = null;
    for (int i = 0; i < size; ++i) last = new Link(last, i);
    return last;
  }

  private static Tree tree(int size) {
    if (size == 0) return null;
    int left = (size - 1) / 2;
    return new Tree(tree(left), tree(size - 1 - left), size);
  }

  private static Map<String, Integer> map(int size) {
    Map<String, Integer> map = new HashMap<>();
    for (int i = 0; i < size; ++i) map.put("key " + i, i + 1000);
    return map;
  }

  private static Object[] arrays(int size) {
    Object[] arrays = new Object[size];
    for (int i = 0; i < size; ++i) arrays[i] = new int[8];
    return arrays;
  }

  private static ArrayList<ArrayList<Object>> lists(int size, Object[] shared) {
    ArrayList<ArrayList<Object>> lists = new ArrayList<>(size);
    for (int i = 0; i < size; ++i) {
      ArrayList<Object> one = new ArrayList<>();
      for (int k = 0; k < 3; ++k) one.add(shared[(i + 7 * k) % shared.length]);
      lists.add(one);
    }
    return lists;
  }

  private static Record[] records(int size) {
    Record[] records = new Record[size];
    for (int i = 0; i < size; ++i) records[i] = new Record();
    Random random = new Random(1);
    for (Record one : records) one.other = records[random.nextInt(size)];
    return records;
  }

  public static void main(String[] args) throws Exception {
    int part = Integer.parseInt(args[1]) * 50_000;  // a twentieth of the objects
    Object[] shared = arrays(2 * part);
    Object[] all = {
      list(3 * part), tree(3 * part), map(3 * part / 2), shared,
      lists(part, shared), records(2 * part)
    };
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    System.out.println(all.length + " shapes");
  }
}
