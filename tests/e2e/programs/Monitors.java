import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Methods with synchronized blocks, called often enough to be compiled (woven_compiled_test.py). */
final class Monitors {
  interface Case {
    int run(int i) throws Exception;
  }

  static final Object LOCK = new Object(), OTHER = new Object();
  static int calls;

  static int called(int i) {
    if (i % 100 == 99) throw new IllegalStateException();
    return i + 1;
  }

  static int returnsFromBlock(int i) {
    synchronized (LOCK) {
      return called(i);
    }
  }

  static int nested(int i) {
    synchronized (LOCK) {
      ++calls;
      synchronized (OTHER) {
        i = called(i);
      }
      return called(i);
    }
  }

  static int inLoop(int i) {
    int sum = 0;
    for (int k = 0; k < 3; ++k) {
      synchronized (LOCK) {
        if (k == 2) continue;
        sum += called(i + k);
      }
    }
    return sum;
  }

  static int finallyInBlock(int i) {
    synchronized (LOCK) {
      try {
        return called(i);
      } finally {
        calls = called(0);
      }
    }
  }

  static int catchInBlock(int i) {
    synchronized (LOCK) {
      try {
        i = called(i);
      } catch (IllegalStateException e) {
        i = called(0);
      }
    }
    return i;
  }

  static int blockInCatch(int i) {
    try {
      return called(i);
    } catch (IllegalStateException e) {
      synchronized (LOCK) {
        return called(1);
      }
    } finally {
      synchronized (OTHER) {
        ++calls;
      }
    }
  }

  static synchronized int blockInSynchronizedMethod(int i) {
    try {
      synchronized (LOCK) {
        return called(i);
      }
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  static int resourceInBlock(int i) throws Exception {
    synchronized (LOCK) {
      try (AutoCloseable closed = () -> called(0)) {
        i = called(i);
      }
    }
    return i;
  }

  static int breaksOutOfBlock(int i) {
    synchronized (LOCK) {
      if (i % 3 == 0) return 1;
      for (;;) {
        synchronized (OTHER) {
          if (i++ % 2 == 0) break;
        }
      }
    }
    return called(i % 98);
  }

  public static void main(String[] args) throws Exception {
    Map<String, Case> cases = new TreeMap<>(Map.of(
        "returnsFromBlock", Monitors::returnsFromBlock,
        "nested", Monitors::nested,
        "inLoop", Monitors::inLoop,
        "finallyInBlock", Monitors::finallyInBlock,
        "catchInBlock", Monitors::catchInBlock,
        "blockInCatch", Monitors::blockInCatch,
        "blockInSynchronizedMethod", Monitors::blockInSynchronizedMethod,
        "resourceInBlock", Monitors::resourceInBlock,
        "breaksOutOfBlock", Monitors::breaksOutOfBlock));
    List<Case> all = new ArrayList<>(cases.values());
    long sum = 0;
    for (int round = 0; round < 60_000; ++round) {
      for (Case one : all) {
        try {
          sum += one.run(round);
        } catch (IllegalStateException e) {
          ++sum;
        }
      }
    }
    System.out.println("cases " + String.join(" ", cases.keySet()) + " sum " + sum);
  }
}
