//@ group sites
//@ jdk 21
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Call sites on virtual threads, which are unmounted between them. Marked as in CallSites. */
final class CallSitesVirtual {
  private final long[] seen = new long[8];

  int leaf(int site) {
    ++seen[site];
    return site;
  }

  int suspended(int site, int i) {
    ++seen[site];
    if (i % 2 == 0) Thread.yield();
    else LockSupport.parkNanos(1000);
    return leaf(0); // site 0
  }

  int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += leaf(1); // site 1
      Thread.yield();
      sum += leaf(2) + leaf(3); // site 2 3
      sum += suspended(4, i) + suspended(5, i + 1); // site 4 5
      if (i % 3 == 0) sum += leaf(6); // site 6
    }
    return sum;
  }

  public static void main(String[] args) throws InterruptedException {
    final List<CallSitesVirtual> all = new ArrayList<>();
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 200; ++i) {
      final CallSitesVirtual one = new CallSitesVirtual();
      all.add(one);
      threads.add(Thread.ofVirtual().start(() -> one.work(50)));
    }
    for (Thread thread : threads) thread.join();
    for (int site = 0; site < 7; ++site) {
      final int of = site;
      final boolean suspends = site == 4 || site == 5;
      Expect.site(
          "CallSitesVirtual." + (site == 0 ? "suspended(II)I" : "work(I)I"),
          site,
          "CallSitesVirtual." + (suspends ? "suspended(II)I" : "leaf(I)I"),
          all.stream().mapToLong(one -> one.seen[of]).sum());
    }
  }
}
