import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.security.MessageDigest;
import java.security.spec.AlgorithmParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Code that HotSpot optimises by inlining and by the JDK's intrinsics. Prints "NAME
 * CPU-ns-of-one-run".
 */
class Kernels {
  static final String TEXT = text();
  static final byte[] BYTES = TEXT.getBytes();
  static long sink;

  static String text() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 4000; i++) text.append("word").append(i * 7919 % 613).append(i % 10 == 0 ? '\n' : ' ');
    return text.toString();
  }

  static void words() {
    Map<String, Integer> counts = new HashMap<>();
    for (String word : TEXT.split("\\s+")) counts.merge(word, 1, Integer::sum);
    sink += counts.size();
  }

  static void strings() {
    StringBuilder built = new StringBuilder();
    for (int i = 0; i < 4000; i++) built.append(i).append(',').append(TEXT, i, i + 8);
    sink += built.toString().hashCode();
  }

  static void sort() {
    List<String> words = new ArrayList<>(Arrays.asList(TEXT.split("\\s+")));
    words.sort(Comparator.comparing(String::length).thenComparing(Comparator.reverseOrder()));
    sink += words.get(7).length();
  }

  static void cas() {
    AtomicLong counter = new AtomicLong();
    for (int i = 0; i < 40_000; i++) counter.incrementAndGet();
    sink += counter.get();
  }

  static void sha256() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    sink += digest.digest(TEXT.getBytes())[0];
  }

  static void arraycopy() {
    List<Integer> list = new ArrayList<>(Collections.nCopies(2000, 1));
    for (int i = 0; i < 400; i++) list.add(0, i);
    sink += list.size();
  }

  static void maps() {
    Map<Integer, Integer> counts = new HashMap<>();
    for (int i = 0; i < 20_000; i++) counts.merge(i * 7919 % 1009, i, Math::max);
    sink += counts.get(7);
  }

  static void math() {
    double sum = 0;
    for (int i = 1; i < 20_000; i++) sum += Math.sqrt(i) + Math.sin(i) * Math.max(i, 7) + Math.abs(3 - i);
    sink += (long) sum + Integer.bitCount(7) + Math.addExact((int) sink & 1, 3);
  }

  static void copies() {
    int[] from = new int[256], to = new int[256];
    for (int i = 0; i < 4000; i++) {
      from = Arrays.copyOf(from, from.length);
      System.arraycopy(from, 0, to, i % 64, 128);
      if (Arrays.equals(from, to)) sink++;
    }
    sink += from.length;
  }

  static void crc32() {
    CRC32 crc = new CRC32();
    for (int i = 0; i < BYTES.length; i += 64) crc.update(BYTES, i, Math.min(64, BYTES.length - i));
    sink += crc.getValue();
  }

  static void gzip() throws Exception {
    var packed = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(packed)) {
      out.write(BYTES);
    }
    try (var in = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray()))) {
      sink += in.readAllBytes().length;
    }
  }

  static void aes(String mode, AlgorithmParameterSpec start) throws Exception {
    Cipher cipher = Cipher.getInstance("AES/" + mode + "/NoPadding");
    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"), start);
    sink += cipher.doFinal(BYTES, 0, BYTES.length / 16 * 16)[0];
  }

  static int nonces;

  static void aesCbc() throws Exception {
    aes("CBC", new IvParameterSpec(new byte[16]));
  }

  static void aesGcm() throws Exception {
    byte[] nonce = new byte[12];
    for (int i = 0, n = ++nonces; i < 4; i++, n >>= 8) nonce[i] = (byte) n;
    aes("GCM", new GCMParameterSpec(128, nonce));
  }

  interface Kernel {
    void run() throws Exception;
  }

  static void time(String name, Kernel kernel, double seconds) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    long until = System.nanoTime() + (long) (seconds * 1e9);
    do {  // warm-up
      kernel.run();
    } while (System.nanoTime() < until);
    long turns = 0, begin = threads.getCurrentThreadCpuTime();
    until += (long) (seconds * 1e9);
    do {
      kernel.run();
      turns++;
    } while (System.nanoTime() < until);
    System.out.println(name + " " + (threads.getCurrentThreadCpuTime() - begin) / turns);
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[0]);
    time("words", Kernels::words, seconds);
    time("strings", Kernels::strings, seconds);
    time("sort", Kernels::sort, seconds);
    time("cas", Kernels::cas, seconds);
    time("sha256", Kernels::sha256, seconds);
    time("arraycopy", Kernels::arraycopy, seconds);
    time("maps", Kernels::maps, seconds);
    time("math", Kernels::math, seconds);
    time("copies", Kernels::copies, seconds);
    time("crc32", Kernels::crc32, seconds);
    time("gzip", Kernels::gzip, seconds);
    time("aes-cbc", Kernels::aesCbc, seconds);
    time("aes-gcm", Kernels::aesGcm, seconds);
  }
}
