//@ group tiers
/** On-stack replacement: long loops in methods entered once, nested, with exceptions caught inside the loop. */
final class Loops {
  static int tiny(int x) {
    return x + 1;
  }

  static int thrower(int x) {
    if (x % 1000 == 0) throw new IllegalStateException();
    return x;
  }

  int field;

  void touch() {
    ++field;
  }

  static int nestedLoops(int outer, int inner) {
    int sum = 0;
    for (int i = 0; i < outer; ++i) {
      for (int k = 0; k < inner; ++k) sum += tiny(k) - k;
    }
    return sum;
  }

  static int catchingLoop(int n) {
    int caught = 0;
    for (int i = 0; i < n; ++i) {
      try {
        thrower(i);
      } catch (IllegalStateException e) {
        ++caught;
      }
    }
    return caught;
  }

  static synchronized void lockedLoop(Loops object, int n) {
    for (int i = 0; i < n; ++i) object.touch();
  }

  public static void main(String[] args) {
    int n = 1_000_000;
    int x = 0;
    for (int i = 0; i < n; ++i) x = tiny(x);
    Expect.that(x == n, "tiny");
    Expect.that(nestedLoops(300, 1000) == 300_000, "nested");
    Expect.that(catchingLoop(300_000) == 300, "catching");
    Loops object = new Loops();
    lockedLoop(object, 300_000);
    Expect.that(object.field == 300_000, "locked");
    Expect.calls("Loops.tiny(I)I", n + 300_000);
    Expect.path(n, "Loops.main([Ljava/lang/String;)V", "Loops.tiny(I)I");
    Expect.path(300_000, "Loops.nestedLoops(II)I", "Loops.tiny(I)I");
    Expect.calls("Loops.nestedLoops(II)I", 1);
    Expect.calls("Loops.catchingLoop(I)I", 1);
    Expect.calls("Loops.thrower(I)I", 300_000);
    Expect.calls("Loops.lockedLoop(LLoops;I)V", 1);
    Expect.calls("Loops.touch()V", 300_000);
    Expect.path(300_000, "Loops.lockedLoop(LLoops;I)V", "Loops.touch()V");
  }
}
