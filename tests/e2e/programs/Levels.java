/**
 * Like Explosive, without recursion: two methods per level, so that folding does not reduce the
 * tree. 2^21 - 1 calls.
 */
final class Levels {
  static int l20() { return l19() + r19(); }
  static int l19() { return l18() + r18(); }
  static int r19() { return l18() + r18(); }
  static int l18() { return l17() + r17(); }
  static int r18() { return l17() + r17(); }
  static int l17() { return l16() + r16(); }
  static int r17() { return l16() + r16(); }
  static int l16() { return l15() + r15(); }
  static int r16() { return l15() + r15(); }
  static int l15() { return l14() + r14(); }
  static int r15() { return l14() + r14(); }
  static int l14() { return l13() + r13(); }
  static int r14() { return l13() + r13(); }
  static int l13() { return l12() + r12(); }
  static int r13() { return l12() + r12(); }
  static int l12() { return l11() + r11(); }
  static int r12() { return l11() + r11(); }
  static int l11() { return l10() + r10(); }
  static int r11() { return l10() + r10(); }
  static int l10() { return l9() + r9(); }
  static int r10() { return l9() + r9(); }
  static int l9() { return l8() + r8(); }
  static int r9() { return l8() + r8(); }
  static int l8() { return l7() + r7(); }
  static int r8() { return l7() + r7(); }
  static int l7() { return l6() + r6(); }
  static int r7() { return l6() + r6(); }
  static int l6() { return l5() + r5(); }
  static int r6() { return l5() + r5(); }
  static int l5() { return l4() + r4(); }
  static int r5() { return l4() + r4(); }
  static int l4() { return l3() + r3(); }
  static int r4() { return l3() + r3(); }
  static int l3() { return l2() + r2(); }
  static int r3() { return l2() + r2(); }
  static int l2() { return l1() + r1(); }
  static int r2() { return l1() + r1(); }
  static int l1() { return l0() + r0(); }
  static int r1() { return l0() + r0(); }
  static int l0() { return 1; }
  static int r0() { return 1; }

  static int explode(int n) {
    return l20();
  }

  static void after() {}

  public static void main(String[] args) {
    System.out.println("leaves " + explode(20));
    for (int i = 0; i < 1000; ++i) after();
    System.out.println("calls " + ((2L << 20) - 1));
  }
}
