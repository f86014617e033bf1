//@ group calls
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Method.invoke and newInstance past the inflation threshold, exceptions through them, dynamic proxies. */
final class Reflection {
  static int staticTarget(int x) {
    return x + 1;
  }

  int instanceTarget(String s, long y) {
    return s.length() + (int) y;
  }

  /** Not empty: HotSpot does not call an empty method at all when the caller is native code. */
  private static void privateTarget() {
    ++privateCalls;
  }

  static int privateCalls;

  static void throwingTarget(int i) {
    if (i % 2 == 0) throw new IllegalArgumentException();
  }

  Reflection() {}

  interface Service {
    int serve(int x);

    default int twice(int x) {
      return serve(x) + serve(x);
    }
  }

  static int handled(int x) {
    return x;
  }

  static final InvocationHandler HANDLER =
      new InvocationHandler() {
        @Override
        public Object invoke(Object proxy, Method method, Object[] args) {
          return handled((Integer) args[0]);
        }
      };

  public static void main(String[] args) throws Exception {
    int n = 5_000;
    Method statics = Reflection.class.getDeclaredMethod("staticTarget", int.class);
    Method instance = Reflection.class.getDeclaredMethod("instanceTarget", String.class, long.class);
    Method hidden = Reflection.class.getDeclaredMethod("privateTarget");
    Method throwing = Reflection.class.getDeclaredMethod("throwingTarget", int.class);
    Constructor<Reflection> constructor = Reflection.class.getDeclaredConstructor();
    int sum = 0, caught = 0;
    for (int i = 0; i < n; ++i) {
      Reflection object = constructor.newInstance();
      sum += (Integer) statics.invoke(null, i) - i;
      sum += (Integer) instance.invoke(object, "abc", 4L);
      hidden.invoke(null);
      try {
        throwing.invoke(null, i);
      } catch (InvocationTargetException e) {
        ++caught;
      }
    }
    Expect.that(sum == 8 * n && caught == n / 2, "results");

    Service service =
        (Service)
            Proxy.newProxyInstance(
                Reflection.class.getClassLoader(), new Class<?>[] {Service.class}, HANDLER);
    for (int i = 0; i < n; ++i) Expect.that(service.serve(i) == i, "proxy");

    Expect.calls("Reflection.<init>()V", n);
    Expect.calls("Reflection.staticTarget(I)I", n);
    Expect.calls("Reflection.instanceTarget(Ljava/lang/String;J)I", n);
    Expect.calls("Reflection.privateTarget()V", n);
    Expect.calls("Reflection.throwingTarget(I)V", n);
    Expect.calls("Reflection.handled(I)I", n);
    Expect.calls(
        "Reflection$1.invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;",
        n);
    Expect.calls("*$Proxy*.serve(I)I", n);
  }
}
