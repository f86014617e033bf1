import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * An H2 workload that checks its own answers, until told to end.
 *
 * <p>H2Soak JAR CLASSES THREADS: JAR has classes Made0, Made1 ...: an IntUnaryOperator that adds
 * its own number. Threads work in databases of their own; half of them start a virtual thread for
 * each turn where there are such. Others load the classes of the JAR by a loader that is then
 * dropped, and overflow the stack.
 *
 * <p>Standard input: "state" has a line of "name=value" printed, "end" also ends the program; exit
 * status 1 if an answer was wrong.
 */
public final class H2Soak {
  private static final int ROWS = 300;
  private static final AtomicLong answers = new AtomicLong(), errors = new AtomicLong();
  private static final AtomicLong loaders = new AtomicLong(), overflows = new AtomicLong();
  private static volatile boolean ending;
  private static volatile Object garbage;

  interface Work {
    void turn(int number) throws Exception;
  }

  static void wrong(String what, Throwable error) {
    errors.incrementAndGet();
    System.err.println("WRONG: " + what + ": " + error);
    if (errors.get() < 5) error.printStackTrace();
  }

  static void expect(String what, long expected, long found) {
    answers.incrementAndGet();
    if (found != expected) {
      wrong(what, new IllegalStateException("answer " + found + ", not " + expected));
    }
  }

  // ---- the database

  private static final class Database implements Work {
    private final Connection connection;

    Database(String name) throws SQLException {
      connection = DriverManager.getConnection("jdbc:h2:mem:" + name);
      execute("CREATE TABLE a(id INT PRIMARY KEY, v INT, name VARCHAR(40))");
      execute("CREATE TABLE b(id INT PRIMARY KEY, a INT)");
      execute("CREATE INDEX b_a ON b(a)");
    }

    private void execute(String sql) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql);
      }
    }

    private long ask(String sql) throws SQLException {
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery(sql)) {
        row.next();
        return row.getLong(1);
      }
    }

    private void fill(int number) throws SQLException {
      try (PreparedStatement a = connection.prepareStatement("INSERT INTO a VALUES(?, ?, ?)");
          PreparedStatement b = connection.prepareStatement("INSERT INTO b VALUES(?, ?)")) {
        for (int i = 0; i < ROWS; i++) {
          a.setInt(1, i);
          a.setInt(2, i + number);
          a.setString(3, "name " + i % 10);
          a.executeUpdate();
          b.setInt(1, i);
          b.setInt(2, i / 3);
          b.executeUpdate();
        }
      }
    }

    private void refuse() throws SQLException {
      try {
        execute("INSERT INTO a VALUES(7, 7, 'twice')");
        throw new IllegalStateException("a duplicate key was accepted");
      } catch (SQLException duplicate) {
        expect("the error of a duplicate key", 23505, duplicate.getErrorCode());
      }
    }

    @Override
    public void turn(int number) throws SQLException {
      fill(number);
      long sum = ROWS * (ROWS - 1L) / 2;
      expect("a sum", sum + (long) ROWS * number, ask("SELECT SUM(v) FROM a"));
      expect("a join", ROWS, ask("SELECT COUNT(*) FROM a JOIN b ON a.id = b.a"));
      expect("a sum of a join", 3L * (ROWS / 3 - 1) * (ROWS / 3) / 2 + (long) ROWS * number,
          ask("SELECT SUM(a.v) FROM a JOIN b ON a.id = b.a"));
      expect("a selection", ROWS / 10, ask("SELECT COUNT(*) FROM a WHERE name LIKE '%me 7'"));
      expect("groups", 10,
          ask("SELECT COUNT(*) FROM (SELECT name, MAX(v) FROM a GROUP BY name ORDER BY 2)"));
      refuse();
      execute("UPDATE a SET v = v + 1 WHERE MOD(id, 2) = 0");
      expect("an updated sum", sum + (long) ROWS * number + ROWS / 2, ask("SELECT SUM(v) FROM a"));
      execute("DELETE FROM a");
      execute("DELETE FROM b");
      makeGarbage(number);
    }
  }

  private static void makeGarbage(int number) {
    List<Object> kept = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      byte[] bytes = new byte[10_000 + number % 100];
      bytes[i] = 1;
      if (i % 4 == 0) kept.add(bytes);
    }
    garbage = kept;
  }

  // ---- what is beside it

  private static Work classLoading(URL jar, int classes) {
    return number -> {
      try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, null)) {
        for (int i = 0; i < classes; i++) {
          Object made = loader.loadClass("Made" + i).getDeclaredConstructor().newInstance();
          expect("a loaded class", number + i, ((IntUnaryOperator) made).applyAsInt(number));
        }
      }
      if (loaders.incrementAndGet() % 40 == 0) System.gc();  // unloads the dropped ones
      Thread.sleep(50);
    };
  }

  private static int deeper(int level) {
    return deeper(level + 1) + 1;
  }

  private static void overflow(int number) throws InterruptedException {
    try {
      deeper(0);
      throw new IllegalStateException("the stack does not end");
    } catch (StackOverflowError expected) {
      overflows.incrementAndGet();
    }
    Thread.sleep(500);
  }

  // ---- threads

  private static void safely(String what, Work work, int number) {
    try {
      work.turn(number);
    } catch (Throwable error) {
      if (!ending) wrong(what, error);
    }
  }

  private static Thread start(String name, Work work) {
    Thread thread = new Thread(() -> {
      for (int number = 0; !ending; number++) safely(name, work, number);
    }, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Has each turn done by a virtual thread, if the JDK has them. */
  private static Work byVirtualThreads(String name, Work work) {
    java.lang.reflect.Method startVirtual;
    try {
      startVirtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException older) {
      return work;
    }
    return number -> {
      Runnable turn = () -> safely(name, work, number);
      ((Thread) startVirtual.invoke(null, turn)).join();
    };
  }

  private static Work resting(Work work) {
    return number -> {
      work.turn(number);
      Thread.sleep(10);
    };
  }

  private static String state() {
    long collections = 0;
    for (GarbageCollectorMXBean one : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += one.getCollectionCount();
    }
    return "answers=" + answers + " wrong=" + errors + " loaders=" + loaders + " unloaded="
        + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount() + " gcs="
        + collections + " overflows=" + overflows + " redefined=" + SoakAgent.redefined
        + " retransformed=" + SoakAgent.retransformed + " changed=" + SoakAgent.changed;
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[2]);
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      String name = "database-" + i;
      Work work = new Database(name);
      started.add(start(name, resting(i % 2 == 0 ? work : byVirtualThreads(name, work))));
    }
    started.add(start("class loading",
        classLoading(Path.of(args[0]).toUri().toURL(), Integer.parseInt(args[1]))));
    started.add(start("overflow", H2Soak::overflow));
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
      System.out.println(state());
    }
    ending = true;
    for (Thread one : started) one.join(20_000);
    System.out.println(state());
    System.exit(errors.get() == 0 ? 0 : 1);
  }
}
