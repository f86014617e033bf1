//@ group tiers
/**
 * Deoptimisation: a class loaded late invalidates the class-hierarchy analysis while the compiled
 * caller is on the stack; new branches and types repeatedly reach uncommon traps.
 */
final class Deopt {
  static class Animal {
    int legs(int x) {
      return x + 4;
    }
  }

  static class Bird extends Animal {
    @Override
    int legs(int x) {
      return x + 2;
    }
  }

  static class Fish extends Animal {
    @Override
    int legs(int x) {
      return x;
    }
  }

  static Animal animal(int i, int n) {
    if (i == n / 3) return new Bird();
    if (i == n / 2) return new Fish();
    return null;
  }

  static int walk(Animal a, int x) {
    return a.legs(x);
  }

  static int run(int n) {
    Animal current = new Animal();
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      Animal next = animal(i, n);  // loads Bird and Fish while this loop is compiled
      if (next != null) current = next;
      sum += walk(current, 0);
    }
    return sum;
  }

  static int rare(int x) {
    return -x;
  }

  static int common(int x) {
    return x;
  }

  /** The rare branch is not taken before the method is compiled. */
  static int branch(int i, int flip) {
    return i == flip ? rare(i) : common(i);
  }

  static int typed(Object o) {
    if (o instanceof String) return text((String) o);
    if (o instanceof Integer) return number((Integer) o);
    return 0;
  }

  static int text(String s) {
    return s.length();
  }

  static int number(Integer i) {
    return i;
  }

  static int nested(int depth, int i, int flip) {
    return depth == 0 ? branch(i, flip) : nested(depth - 1, i, flip);
  }

  public static void main(String[] args) {
    int n = 120_000;
    Expect.that(run(n) == 4 * (n / 3) + 2 * (n / 2 - n / 3), "run");
    int rounds = 5, per = 20_000;
    for (int r = 0; r < rounds; ++r) {
      for (int i = 1; i <= per; ++i) branch(i, per);
      for (int i = 1; i <= per; ++i) nested(3, i, per);
    }
    for (int i = 0; i < per; ++i) typed("abc");
    for (int i = 0; i < per; ++i) typed(i);
    for (int i = 0; i < per; ++i) typed(i % 2 == 0 ? "abc" : (Object) i);

    Expect.calls("Deopt.run(I)I", 1);
    Expect.calls("Deopt.animal(II)LDeopt$Animal;", n);
    Expect.calls("Deopt.walk(LDeopt$Animal;I)I", n);
    Expect.calls("Deopt$Animal.legs(I)I", n / 3);
    Expect.calls("Deopt$Bird.legs(I)I", n / 2 - n / 3);
    Expect.calls("Deopt$Fish.legs(I)I", n - n / 2);
    Expect.calls("Deopt.branch(II)I", 2L * rounds * per);
    Expect.calls("Deopt.nested(III)I", 4L * rounds * per);
    Expect.calls("Deopt.rare(I)I", 2L * rounds);
    Expect.calls("Deopt.common(I)I", 2L * rounds * (per - 1));
    Expect.calls("Deopt.typed(Ljava/lang/Object;)I", 3L * per);
    Expect.calls("Deopt.text(Ljava/lang/String;)I", per + per / 2);
    Expect.calls("Deopt.number(Ljava/lang/Integer;)I", per + per / 2);
    Expect.path(n / 2 - n / 3, "Deopt.run(I)I", "Deopt.walk(LDeopt$Animal;I)I", "Deopt$Bird.legs(I)I");
  }
}
