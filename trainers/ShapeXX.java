package jprof.trainers;

/**
 * All ways in which one method calls another, with no other code. Transitions loads this class once
 * for each pair of compile states (ShapeIJ: interpreted callers, C1 callees) and compiles the
 * copies accordingly.
 *
 * <p>A caller's name consists of: static or virtual; what it calls (Leaf, Native leaf, Mid
 * = calls a leaf itself, K = native mid; static or virtual; or one with arguments and results, A to
 * D); how often in a row.
 */
final class ShapeXX {
  private long field;

  static void ls() { int x = 0; }  // JNI does not call a method whose body is one return
  void lv() { int x = 0; }
  static native void ns();
  native void nv();
  static void ms(ShapeXX o) { ls(); }
  void mv(ShapeXX o) { o.lv(); }
  static native void ks(ShapeXX o);  // calls ls
  native void kv(ShapeXX o);         // calls lv

  // The cost of saving arguments and results across a probe.
  static int as(int a) { return a + 1; }
  static long bs(long a, int b, long c) { return a + b + c; }
  void cv(long a, int b) { field = a + b; }
  static native long ds(long a, int b);

  static void sEmpty0(ShapeXX o) { int x = 0; }
  static void sLs1(ShapeXX o) { ls(); }
  static void sLs2(ShapeXX o) { ls(); ls(); }
  static void sLs3(ShapeXX o) { ls(); ls(); ls(); }
  static void sLv1(ShapeXX o) { o.lv(); }
  static void sLv2(ShapeXX o) { o.lv(); o.lv(); }
  static void sLv3(ShapeXX o) { o.lv(); o.lv(); o.lv(); }
  static void sNs1(ShapeXX o) { ns(); }
  static void sNs2(ShapeXX o) { ns(); ns(); }
  static void sNs3(ShapeXX o) { ns(); ns(); ns(); }
  static void sNv1(ShapeXX o) { o.nv(); }
  static void sNv2(ShapeXX o) { o.nv(); o.nv(); }
  static void sNv3(ShapeXX o) { o.nv(); o.nv(); o.nv(); }
  static void sMs1(ShapeXX o) { ms(o); }
  static void sMs2(ShapeXX o) { ms(o); ms(o); }
  static void sMs3(ShapeXX o) { ms(o); ms(o); ms(o); }
  static void sMv1(ShapeXX o) { o.mv(o); }
  static void sMv2(ShapeXX o) { o.mv(o); o.mv(o); }
  static void sMv3(ShapeXX o) { o.mv(o); o.mv(o); o.mv(o); }
  static void sKs1(ShapeXX o) { ks(o); }
  static void sKs2(ShapeXX o) { ks(o); ks(o); }
  static void sKs3(ShapeXX o) { ks(o); ks(o); ks(o); }
  static void sKv1(ShapeXX o) { o.kv(o); }
  static void sKv2(ShapeXX o) { o.kv(o); o.kv(o); }
  static void sKv3(ShapeXX o) { o.kv(o); o.kv(o); o.kv(o); }

  static void sAs1(ShapeXX o) { as(1); }
  static void sAs2(ShapeXX o) { as(1); as(2); }
  static void sAs3(ShapeXX o) { as(1); as(2); as(3); }
  static void sBs1(ShapeXX o) { bs(1, 2, 3); }
  static void sBs2(ShapeXX o) { bs(1, 2, 3); bs(2, 2, 3); }
  static void sBs3(ShapeXX o) { bs(1, 2, 3); bs(2, 2, 3); bs(3, 2, 3); }
  static void sCv1(ShapeXX o) { o.cv(1, 2); }
  static void sCv2(ShapeXX o) { o.cv(1, 2); o.cv(2, 2); }
  static void sCv3(ShapeXX o) { o.cv(1, 2); o.cv(2, 2); o.cv(3, 2); }
  static void sDs1(ShapeXX o) { ds(1, 2); }
  static void sDs2(ShapeXX o) { ds(1, 2); ds(2, 2); }
  static void sDs3(ShapeXX o) { ds(1, 2); ds(2, 2); ds(3, 2); }

  void vEmpty0(ShapeXX o) { int x = 0; }
  void vLs1(ShapeXX o) { ls(); }
  void vLs2(ShapeXX o) { ls(); ls(); }
  void vLs3(ShapeXX o) { ls(); ls(); ls(); }
  void vLv1(ShapeXX o) { o.lv(); }
  void vLv2(ShapeXX o) { o.lv(); o.lv(); }
  void vLv3(ShapeXX o) { o.lv(); o.lv(); o.lv(); }
  void vNs1(ShapeXX o) { ns(); }
  void vNs2(ShapeXX o) { ns(); ns(); }
  void vNs3(ShapeXX o) { ns(); ns(); ns(); }
  void vNv1(ShapeXX o) { o.nv(); }
  void vNv2(ShapeXX o) { o.nv(); o.nv(); }
  void vNv3(ShapeXX o) { o.nv(); o.nv(); o.nv(); }
  void vMs1(ShapeXX o) { ms(o); }
  void vMs2(ShapeXX o) { ms(o); ms(o); }
  void vMs3(ShapeXX o) { ms(o); ms(o); ms(o); }
  void vMv1(ShapeXX o) { o.mv(o); }
  void vMv2(ShapeXX o) { o.mv(o); o.mv(o); }
  void vMv3(ShapeXX o) { o.mv(o); o.mv(o); o.mv(o); }
  void vKs1(ShapeXX o) { ks(o); }
  void vKs2(ShapeXX o) { ks(o); ks(o); }
  void vKs3(ShapeXX o) { ks(o); ks(o); ks(o); }
  void vKv1(ShapeXX o) { o.kv(o); }
  void vKv2(ShapeXX o) { o.kv(o); o.kv(o); }
  void vKv3(ShapeXX o) { o.kv(o); o.kv(o); o.kv(o); }
}
