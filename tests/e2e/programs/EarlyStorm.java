//@ agentjar
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Before main: threads that continuously stop the VM, parked threads, and virtual ones that change
 * their carriers, so that other agents receive VMInit meanwhile.
 */
final class EarlyStorm {
  static volatile boolean stop;
  static final List<Thread> threads = new ArrayList<>();

  static void start(Runnable body) {
    Thread thread = new Thread(null, body, "storm-" + threads.size(), 256 << 10);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  static void stopTheVm() {
    while (!stop) Thread.getAllStackTraces();
  }

  static void collect() {
    while (!stop) System.gc();
  }

  static void rest() {
    try {
      while (!stop) Thread.sleep(20);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void yields() {
    while (!stop) Thread.yield();
  }

  public static void premain(String args, Instrumentation unused) throws Exception {
    for (int i = 0; i < 60; ++i) start(EarlyStorm::rest);
    try {
      Method virtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
      for (int i = 0; i < 20; ++i) virtual.invoke(null, (Runnable) EarlyStorm::yields);
    } catch (NoSuchMethodException e) {
      // JDK 17
    }
    for (int i = 0; i < 3; ++i) start(EarlyStorm::stopTheVm);
    start(EarlyStorm::collect);
    Thread.sleep(50);
  }

  public static void main(String[] args) throws Exception {
    Thread.sleep(50);
    stop = true;
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
