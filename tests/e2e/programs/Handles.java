//@ group calls
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/** Method handles: exact, generic, bound, combined, changing call sites, exceptions through them. */
final class Handles {
  static int increment(int x) {
    return x + 1;
  }

  static int doubled(int x) {
    return 2 * x;
  }

  int base = 10;

  int plus(int x) {
    return base + x;
  }

  static int recover(IllegalStateException e, int x) {
    return -x;
  }

  static int failing(int x) {
    if (x % 2 == 0) throw new IllegalStateException();
    return x;
  }

  static boolean test(int x) {
    return x % 3 == 0;
  }

  static final MethodHandle INCREMENT, DOUBLED, PLUS, CHAIN, GUARD, CATCHING;
  static final MutableCallSite SITE =
      new MutableCallSite(MethodType.methodType(int.class, int.class));
  static final MethodHandle DYNAMIC = SITE.dynamicInvoker();

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      MethodType intToInt = MethodType.methodType(int.class, int.class);
      INCREMENT = lookup.findStatic(Handles.class, "increment", intToInt);
      DOUBLED = lookup.findStatic(Handles.class, "doubled", intToInt);
      PLUS = lookup.findVirtual(Handles.class, "plus", intToInt);
      CHAIN = MethodHandles.filterReturnValue(INCREMENT, DOUBLED);
      GUARD =
          MethodHandles.guardWithTest(
              lookup.findStatic(
                  Handles.class, "test", MethodType.methodType(boolean.class, int.class)),
              INCREMENT,
              DOUBLED);
      CATCHING =
          MethodHandles.catchException(
              lookup.findStatic(Handles.class, "failing", intToInt),
              IllegalStateException.class,
              lookup.findStatic(
                  Handles.class,
                  "recover",
                  MethodType.methodType(int.class, IllegalStateException.class, int.class)));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static int step(int i, MethodHandle bound, MethodHandle generic) throws Throwable {
    int sum = (int) INCREMENT.invokeExact(i);
    sum += (int) CHAIN.invokeExact(i);
    sum += (int) GUARD.invokeExact(i);
    sum += (int) CATCHING.invokeExact(i);
    sum += (int) bound.invokeExact(i);
    sum += (Integer) generic.invoke((Object) i);
    sum += (int) DYNAMIC.invokeExact(i);
    return sum;
  }

  public static void main(String[] args) throws Throwable {
    int n = 18_000;
    MethodHandle bound = PLUS.bindTo(new Handles());
    MethodHandle generic = DOUBLED.asType(MethodType.genericMethodType(1));
    SITE.setTarget(INCREMENT);
    long sum = 0;
    for (int i = 0; i < n; ++i) {
      if (i == n / 2) {
        SITE.setTarget(DOUBLED);
        MutableCallSite.syncAll(new MutableCallSite[] {SITE});
      }
      sum += step(i, bound, generic);
    }
    for (int i = 0; i < 100; ++i) sum += (Integer) INCREMENT.invokeWithArguments(i);
    Expect.that(sum != 0, "sum");
    Expect.calls(
        "Handles.step(ILjava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodHandle;)I", n);
    // increment: exact n, chain n, guard n/3, site n/2, arguments 100; doubled: chain n, guard 2n/3, generic n, site n/2
    Expect.calls("Handles.increment(I)I", n + n + n / 3 + n / 2 + 100);
    Expect.calls("Handles.doubled(I)I", n + 2 * n / 3 + n + n / 2);
    Expect.calls("Handles.plus(I)I", n);
    Expect.calls("Handles.test(I)Z", n);
    Expect.calls("Handles.failing(I)I", n);
    Expect.calls("Handles.recover(Ljava/lang/IllegalStateException;I)I", n / 2);
    Expect.calls("Handles.<clinit>()V", 1);
  }
}
