//@ agentjar
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;

/** Retransforms all its own classes and hundreds of the JDK's while threads run them. */
final class Storm {
  static Instrumentation instrumentation;

  public static void premain(String args, Instrumentation inst) {
    instrumentation = inst;
  }

  static final class Busy extends Thread {
    long calls;

    @Override
    public void run() {
      while (!stop || calls < 1000) {
        ++calls;
        step();
      }
    }

    static int step() {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 5; ++i) text.append(leaf(i));
      return text.length();
    }

    static int leaf(int i) {
      return i;
    }
  }

  static volatile boolean stop;

  public static void main(String[] args) throws Exception {
    Busy[] threads = {new Busy(), new Busy(), new Busy()};
    for (Busy t : threads) t.start();
    List<Class<?>> classes = new ArrayList<>();
    for (Class<?> c : instrumentation.getAllLoadedClasses()) {
      if (instrumentation.isModifiableClass(c) && !c.isArray() && !c.isHidden()) classes.add(c);
    }
    for (int round = 0; round < 3; ++round) {
      for (int at = 0; at < classes.size(); at += 50) {
        instrumentation.retransformClasses(
            classes.subList(at, Math.min(at + 50, classes.size())).toArray(new Class<?>[0]));
        instrumentation.retransformClasses(Busy.class);
      }
    }
    stop = true;
    long calls = 0;
    for (Busy t : threads) {
      t.join();
      calls += t.calls;
    }
    Expect.calls("Storm$Busy.run()V", 3);
    Expect.calls("Storm$Busy.step()I", calls);
    Expect.calls("Storm$Busy.leaf(I)I", 5 * calls);
    System.out.println("done");
  }
}
