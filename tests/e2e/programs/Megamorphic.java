//@ group calls
/** Interface and virtual calls with many receivers, default, super and bridge methods. */
final class Megamorphic {
  interface Shape {
    int area(int x);

    default int more(int x) {
      return area(x) + 1;
    }
  }

  static final class A implements Shape {
    @Override
    public int area(int x) {
      return x;
    }
  }

  static final class B implements Shape {
    @Override
    public int area(int x) {
      return x + 1;
    }
  }

  static final class C implements Shape {
    @Override
    public int area(int x) {
      return x + 2;
    }

    @Override
    public int more(int x) {
      return Shape.super.more(x) + 1;
    }
  }

  abstract static class Base implements Shape {
    int calls;

    @Override
    public int area(int x) {
      return hook(x);
    }

    abstract int hook(int x);
  }

  static final class D extends Base {
    @Override
    int hook(int x) {
      return x;
    }
  }

  static class E extends Base {
    @Override
    int hook(int x) {
      return x;
    }
  }

  static final class F extends E {
    @Override
    int hook(int x) {
      return super.hook(x) + 1;
    }
  }

  static int call(Shape s, int x) {
    return s.more(x);
  }

  interface Source<T> {
    T get();
  }

  static final class Strings implements Source<String> {
    @Override
    public String get() {
      return "";
    }
  }

  static int length(Source<?> s) {
    return ((String) s.get()).length();
  }

  public static void main(String[] args) {
    Shape[] shapes = {new A(), new B(), new C(), new D(), new E(), new F()};
    int rounds = 20_000;
    long sum = 0;
    for (int i = 0; i < rounds; ++i) {
      for (Shape shape : shapes) sum += call(shape, i);
    }
    Expect.that(sum == 6L * rounds * (rounds - 1) / 2 + 11L * rounds, "sum " + sum);
    Strings strings = new Strings();
    for (int i = 0; i < rounds; ++i) length(strings);
    Expect.calls("Megamorphic.call(LMegamorphic$Shape;I)I", 6L * rounds);
    Expect.calls("Megamorphic$Shape.more(I)I", 6L * rounds);
    Expect.calls("Megamorphic$C.more(I)I", rounds);
    Expect.calls("Megamorphic$A.area(I)I", rounds);
    Expect.calls("Megamorphic$B.area(I)I", rounds);
    Expect.calls("Megamorphic$C.area(I)I", rounds);
    Expect.calls("Megamorphic$Base.area(I)I", 3L * rounds);
    Expect.calls("Megamorphic$D.hook(I)I", rounds);
    Expect.calls("Megamorphic$E.hook(I)I", 2L * rounds);
    Expect.calls("Megamorphic$F.hook(I)I", rounds);
    Expect.path(rounds, "Megamorphic$F.hook(I)I", "Megamorphic$E.hook(I)I");
    Expect.path(rounds, "Megamorphic$C.more(I)I", "Megamorphic$Shape.more(I)I", "Megamorphic$C.area(I)I");
    Expect.calls("Megamorphic$Strings.get()Ljava/lang/String;", rounds);
    Expect.calls("Megamorphic$Strings.get()Ljava/lang/Object;", rounds);
  }
}
