//@ group values
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;

/**
 * Calls of methods for which HotSpot has intrinsics, or which its optimisation phases know (boxing,
 * StringBuilder). The methods of this class have none: they are counted exactly in any case.
 */
final class Intrinsics {
  static long sink;

  static int largest(int a, int b) {
    return Math.max(a, b);
  }

  static int ones(int a) {
    return Integer.bitCount(a);
  }

  static int[] copied(int[] from) {
    return Arrays.copyOf(from, from.length);
  }

  static void moved(int[] from, int[] to) {
    System.arraycopy(from, 0, to, 0, from.length);
  }

  static boolean same(String a, String b) {
    return a.equals(b);
  }

  static int boxed(int a) {
    Integer unused = Integer.valueOf(a + 1000);
    return a;
  }

  static int unboxed(int a) {
    Integer box = Integer.valueOf(a + 1000);
    return box.intValue();
  }

  static String joined(int a) {
    return new StringBuilder().append("a").append(a).append("b").toString();
  }

  static int next(AtomicInteger counter) {
    return counter.incrementAndGet();
  }

  static byte[] digest(MessageDigest sha, byte[] data) {
    return sha.digest(data);
  }

  static long sum(CRC32 crc, byte[] data) {
    crc.update(data, 0, data.length);
    return crc.getValue();
  }

  static int thrown(int a) {
    try {
      return Math.addExact(Integer.MAX_VALUE - 10, a % 20);
    } catch (ArithmeticException e) {
      return caught(a);
    }
  }

  static int caught(int a) {
    return a;
  }

  public static void main(String[] args) throws Exception {
    int n = 30_000, digests = 2_000;
    int[] from = {1, 2, 3}, to = new int[3];
    byte[] data = "some data to digest, longer than one block of SHA-256 ................".getBytes();
    String a = "text", b = new String("text");
    AtomicInteger counter = new AtomicInteger();
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    CRC32 crc = new CRC32();
    for (int i = 0; i < n; ++i) {
      sink += largest(i, 500) + ones(i) + copied(from)[1] + boxed(i) + unboxed(i);
      moved(from, to);
      if (same(a, b)) ++sink;
      sink += joined(i).length() + next(counter) + sum(crc, data) + thrown(i);
    }
    for (int i = 0; i < digests; ++i) sink += digest(sha, data)[0];
    Expect.that(counter.get() == n && to[2] == 3, "values");

    Expect.calls("Intrinsics.largest(II)I", n);
    Expect.calls("Intrinsics.ones(I)I", n);
    Expect.calls("Intrinsics.copied([I)[I", n);
    Expect.calls("Intrinsics.moved([I[I)V", n);
    Expect.calls("Intrinsics.same(Ljava/lang/String;Ljava/lang/String;)Z", n);
    Expect.calls("Intrinsics.boxed(I)I", n);
    Expect.calls("Intrinsics.unboxed(I)I", n);
    Expect.calls("Intrinsics.joined(I)Ljava/lang/String;", n);
    Expect.calls("Intrinsics.next(Ljava/util/concurrent/atomic/AtomicInteger;)I", n);
    Expect.calls("Intrinsics.digest(Ljava/security/MessageDigest;[B)[B", digests);
    Expect.calls("Intrinsics.sum(Ljava/util/zip/CRC32;[B)J", n);
    Expect.calls("Intrinsics.thrown(I)I", n);
    Expect.calls("Intrinsics.caught(I)I", n / 20 * 9);
    Expect.path(n, "Intrinsics.largest(II)I", "java/lang/Math.max(II)I");
    Expect.path(n, "Intrinsics.ones(I)I", "java/lang/Integer.bitCount(I)I");
    Expect.path(n, "Intrinsics.copied([I)[I", "java/util/Arrays.copyOf([II)[I");
    Expect.path(n, "Intrinsics.same(Ljava/lang/String;Ljava/lang/String;)Z",
        "java/lang/String.equals(Ljava/lang/Object;)Z");
    Expect.path(n, "Intrinsics.boxed(I)I", "java/lang/Integer.valueOf(I)Ljava/lang/Integer;");
    Expect.path(n, "Intrinsics.unboxed(I)I", "java/lang/Integer.valueOf(I)Ljava/lang/Integer;");
    Expect.path(n, "Intrinsics.unboxed(I)I", "java/lang/Integer.intValue()I");
    Expect.path(2 * n, "Intrinsics.joined(I)Ljava/lang/String;",
        "java/lang/StringBuilder.append(Ljava/lang/String;)Ljava/lang/StringBuilder;");
    Expect.path(n, "Intrinsics.joined(I)Ljava/lang/String;",
        "java/lang/StringBuilder.append(I)Ljava/lang/StringBuilder;");
    Expect.path(n, "Intrinsics.joined(I)Ljava/lang/String;",
        "java/lang/StringBuilder.toString()Ljava/lang/String;");
    Expect.path(n, "Intrinsics.next(Ljava/util/concurrent/atomic/AtomicInteger;)I",
        "java/util/concurrent/atomic/AtomicInteger.incrementAndGet()I");
    Expect.path(n, "Intrinsics.thrown(I)I", "java/lang/Math.addExact(II)I");
    Expect.path(digests, "Intrinsics.digest(Ljava/security/MessageDigest;[B)[B",
        "java/security/MessageDigest.digest([B)[B");
    Expect.path(digests, "java/security/MessageDigest.digest([B)[B",
        "java/security/MessageDigest.update([B)V");
  }
}
