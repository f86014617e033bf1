//@ group exceptions
/** Rethrow, finally, nested handlers, exceptions out of constructors and static initialisers. */
final class Rethrow {
  static final class Failure extends Exception {
    Failure() {
      super("failure", null, false, false);
    }
  }

  static int cleanups;

  static void cleanup() {
    ++cleanups;
  }

  static void thrower(int i) throws Failure {
    if (i % 3 == 0) throw new Failure();
  }

  static void rethrower(int i) throws Failure {
    try {
      thrower(i);
    } catch (Failure e) {
      throw e;
    }
  }

  static void withFinally(int i) throws Failure {
    try {
      rethrower(i);
    } finally {
      cleanup();
    }
  }

  /** The exception thrown in the finally block replaces the first one. */
  static void replacing(int i) throws Failure {
    try {
      withFinally(i);
    } finally {
      thrower(i);
    }
  }

  static int localCatch(int i) {
    try {
      if (i % 3 == 0) throw new Failure();
      return 0;
    } catch (Failure e) {
      return 1;
    }
  }

  /** Throws and catches in the handler itself, in a loop, without leaving the frame. */
  static int nested(int i) {
    int seen = 0;
    for (int k = 0; k < 3; ++k) {
      try {
        try {
          thrower(3 * i);
        } catch (Failure first) {
          ++seen;
          thrower(3 * i);
        } finally {
          cleanup();
        }
      } catch (Failure second) {
        ++seen;
      }
    }
    return seen;
  }

  static final class Fragile {
    Fragile(int i) throws Failure {
      if (i % 2 == 0) throw new Failure();
      built();
    }

    void built() {}
  }

  static final class BadInit {
    static final int VALUE = fail();

    static int fail() {
      throw new IllegalStateException("bad init");
    }
  }

  static final class Resource implements AutoCloseable {
    @Override
    public void close() throws Failure {
      thrower(0);
    }
  }

  static void withResource(int i) throws Failure {
    try (Resource r = new Resource()) {
      thrower(i);
    }
  }

  public static void main(String[] args) {
    int n = 30_000;
    int caught = 0;
    for (int i = 0; i < n; ++i) {
      try {
        replacing(i);
      } catch (Failure e) {
        ++caught;
      }
      caught += localCatch(i);
    }
    Expect.that(caught == 2 * n / 3, "caught");
    for (int i = 0; i < n; ++i) Expect.that(nested(i) == 6, "nested");
    int built = 0;
    for (int i = 0; i < n; ++i) {
      try {
        new Fragile(i);
        ++built;
      } catch (Failure e) {
        // by construction
      }
    }
    Expect.that(built == n / 2, "built");
    int errors = 0;
    for (int i = 0; i < 3; ++i) {
      try {
        Expect.that(BadInit.VALUE != 0, "unreachable");
      } catch (LinkageError e) {
        ++errors;
      }
    }
    Expect.that(errors == 3, "static initialiser");
    int suppressed = 0;
    for (int i = 0; i < n; ++i) {
      try {
        withResource(i);
      } catch (Failure e) {
        ++suppressed;
      }
    }
    Expect.that(suppressed == n, "resource");

    Expect.calls("Rethrow.replacing(I)V", n);
    Expect.calls("Rethrow.withFinally(I)V", n);
    Expect.calls("Rethrow.rethrower(I)V", n);
    // replacing: rethrower's and its own; nested: 2 x 3 a call; withResource: its own and close's.
    Expect.calls("Rethrow.thrower(I)V", 2L * n + 6L * n + 2L * n);
    Expect.calls("Rethrow.cleanup()V", n + 3L * n);
    Expect.calls("Rethrow.localCatch(I)I", n);
    Expect.calls("Rethrow.nested(I)I", n);
    Expect.path(6L * n, "Rethrow.nested(I)I", "Rethrow.thrower(I)V");
    Expect.path(n, "Rethrow.rethrower(I)V", "Rethrow.thrower(I)V");
    Expect.path(n, "Rethrow.replacing(I)V", "Rethrow.thrower(I)V");
    Expect.calls("Rethrow$Fragile.<init>(I)V", n);
    Expect.calls("Rethrow$Fragile.built()V", n / 2);
    Expect.calls("Rethrow$BadInit.<clinit>()V", 1);
    Expect.calls("Rethrow$BadInit.fail()I", 1);
    Expect.calls("Rethrow.withResource(I)V", n);
    Expect.calls("Rethrow$Resource.close()V", n);
    // thrower: replacing 1/3 of n twice, nested 6 n, withResource n/3 + n; localCatch n/3; Fragile n/2.
    Expect.calls(
        "Rethrow$Failure.<init>()V",
        2 * (n / 3) + 6L * n + n / 3 + n + n / 3 + n / 2);
  }
}
