import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Takes locks of java.util.concurrent a known number of times. Prints for each of its methods and
 * kinds of lock: "counts" method gets nonrec slow kind, and "hold" method least most kind, the
 * bounds of the hold time by its own clock. With an argument it waits for a line of input first.
 */
public class LocksConcurrent {
    static final int TIMES = 20_000;
    static final int WAITS = 10;

    interface Action {
        void run() throws Exception;
    }

    static void expect(String method, String kind, long gets, long nonrec, long slow) {
        System.out.println("counts " + method + " " + gets + " " + nonrec + " " + slow + " " + kind);
    }

    static void run(Action action) {
        try {
            action.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static Thread start(Action action) {
        Thread thread = new Thread(() -> run(action));
        thread.start();
        return thread;
    }

    static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING
                && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    static void check(boolean expected) {
        if (!expected) throw new AssertionError();
    }

    static void plain(Lock lock, boolean again) throws Exception {
        for (int i = 0; i < TIMES; ++i) {
            lock.lock();
            if (again) {
                lock.lockInterruptibly();
                check(lock.tryLock());
                lock.unlock();
                lock.unlock();
            }
            lock.unlock();
        }
    }

    static void tries(Lock lock) throws Exception {
        for (int i = 0; i < WAITS; ++i) {
            check(lock.tryLock());
            lock.unlock();
            check(lock.tryLock(1, TimeUnit.SECONDS));
            lock.unlock();
        }
    }

    static void fails(Lock lock) throws Exception {
        for (int i = 0; i < WAITS; ++i) {
            check(!lock.tryLock());
            check(!lock.tryLock(1, TimeUnit.MILLISECONDS));
        }
        Thread.currentThread().interrupt();
        try {
            lock.lockInterruptibly();
            throw new AssertionError();
        } catch (InterruptedException e) {
            // It is not taken.
        }
    }

    static void waits(Lock lock) {
        lock.lock();
        lock.unlock();
    }

    // `own` is held while other threads ask for `asked` in fails() and waits().
    static void contend(Lock own, Lock asked) throws Exception {
        own.lock();
        start(() -> fails(asked)).join();
        own.unlock();
        for (int i = 0; i < WAITS; ++i) {
            own.lock();
            Thread waiter = start(() -> waits(asked));
            awaitParked(waiter);
            own.unlock();
            waiter.join();
        }
    }

    static void holds(String kind, Lock lock) throws Exception {
        long least = 0;
        long most = 0;
        for (int i = 0; i < 3; ++i) {
            long before = System.nanoTime();
            lock.lock();
            long from = System.nanoTime();
            Thread.sleep(20);
            long to = System.nanoTime();
            lock.unlock();
            least += to - from;
            most += System.nanoTime() - before;
        }
        System.out.println("hold holds " + least + " " + most + " " + kind);
    }

    static void everything(String kind, Lock own, Lock asked, boolean again) throws Exception {
        plain(asked, again);
        tries(asked);
        contend(own, asked);
        holds(kind, asked);
        expect("plain", kind, again ? 3L * TIMES : TIMES, TIMES, 0);
        expect("tries", kind, 2 * WAITS, 2 * WAITS, 0);
        expect("fails", kind, 0, 0, -1);
        expect("waits", kind, WAITS, WAITS, WAITS);
        expect("holds", kind, 3, 3, 0);
    }

    static void readers(ReentrantReadWriteLock locks) throws Exception {
        locks.writeLock().lock();
        locks.readLock().lock();
        locks.writeLock().unlock();
        Thread other = start(() -> {
            locks.readLock().lock();
            locks.readLock().unlock();
        });
        other.join();
        locks.readLock().unlock();
        expect("readers", "read lock", 1, 1, 0);
        expect("readers", "write lock", 1, 1, 0);
    }

    static void stamped(StampedLock lock) throws Exception {
        for (int i = 0; i < TIMES; ++i) {
            long stamp = lock.tryOptimisticRead();
            stamp = lock.tryConvertToReadLock(stamp);
            stamp = lock.tryConvertToWriteLock(stamp);
            lock.unlock(stamp);
            lock.unlockRead(lock.readLock());
            lock.unlockWrite(lock.writeLock());
        }
        expect("stamped", "read lock", 2L * TIMES, 2L * TIMES, 0);
        expect("stamped", "write lock", 2L * TIMES, 2L * TIMES, 0);
    }

    static void conditions() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        long least = 0;
        long most = 0;
        long waited = 0;
        for (int i = 0; i < WAITS; ++i) {
            Thread main = Thread.currentThread();
            Thread signaller = start(() -> signal(main, lock, condition));
            long before = System.nanoTime();
            lock.lock();
            long from = System.nanoTime();
            condition.await();
            long to = System.nanoTime();
            lock.unlock();
            most += System.nanoTime() - before;
            waited += to - from;
            signaller.join();
        }
        lock.lock();
        check(condition.awaitNanos(1000) <= 0);
        lock.unlock();
        System.out.println("hold conditions " + least + " " + (most - waited * 95 / 100) + " lock");
        expect("conditions", "condition", WAITS, WAITS, -1);
    }

    static void signal(Thread waiter, Lock lock, Condition condition) throws Exception {
        awaitParked(waiter);
        Thread.sleep(20);
        lock.lock();
        condition.signal();
        lock.unlock();
    }

    static void semaphores() throws Exception {
        Semaphore semaphore = new Semaphore(1);
        for (int i = 0; i < TIMES; ++i) {
            semaphore.acquire();
            semaphore.release();
        }
        semaphore.acquireUninterruptibly();
        semaphoreFails(semaphore);
        for (int i = 0; i < WAITS; ++i) {
            Thread waiter = start(() -> semaphoreWaits(semaphore));
            awaitParked(waiter);
            semaphore.release();
            waiter.join();
        }
        expect("semaphores", "semaphore", TIMES + 1, TIMES + 1, 0);
        expect("semaphoreFails", "semaphore", 0, 0, -1);
        expect("semaphoreWaits", "semaphore", WAITS, WAITS, WAITS);
    }

    static void semaphoreFails(Semaphore semaphore) throws Exception {
        check(!semaphore.tryAcquire());
        check(!semaphore.tryAcquire(1, TimeUnit.MILLISECONDS));
    }

    static void semaphoreWaits(Semaphore semaphore) throws Exception {
        semaphore.acquire();
    }

    static void latches() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        latchFails(latch);
        Thread waiter = start(() -> latchWaits(latch));
        awaitParked(waiter);
        latch.countDown();
        waiter.join();
        latch.await();
        expect("latches", "latch", 1, 1, 0);
        expect("latchFails", "latch", 0, 0, -1);
        expect("latchWaits", "latch", 1, 1, 1);
    }

    static void latchFails(CountDownLatch latch) throws Exception {
        check(!latch.await(1, TimeUnit.MILLISECONDS));
    }

    static void latchWaits(CountDownLatch latch) throws Exception {
        latch.await();
    }

    // Takes two locks in both orders, never at the same time.
    static void inversion() throws Exception {
        ReentrantLock left = new ReentrantLock();
        ReentrantReadWriteLock right = new ReentrantReadWriteLock();
        start(() -> leftThenRight(left, right.writeLock())).join();
        start(() -> rightThenLeft(right.readLock(), left)).join();
        expect("leftThenRight", "lock", 1, 1, 0);
        expect("rightThenLeft", "lock", 1, 1, 0);
    }

    static void leftThenRight(Lock left, Lock right) {
        left.lock();
        right.lock();
        right.unlock();
        left.unlock();
    }

    static void rightThenLeft(Lock right, Lock left) {
        right.lock();
        left.lock();
        left.unlock();
        right.unlock();
    }

    // The same where a lock is tried in between.
    static void inversionBehindTried() throws Exception {
        ReentrantLock first = new ReentrantLock();
        ReentrantLock last = new ReentrantLock();
        start(() -> behindTried(first, new ReentrantLock(), last)).join();
        start(() -> back(first, last)).join();
        expect("behindTried", "lock", 3, 3, 0);
        expect("back", "lock", 2, 2, 0);
    }

    static void behindTried(Lock first, Lock tried, Lock last) {
        first.lock();
        check(tried.tryLock());
        last.lock();
        last.unlock();
        tried.unlock();
        first.unlock();
    }

    static void back(Lock first, Lock last) {
        last.lock();
        first.lock();
        first.unlock();
        last.unlock();
    }

    // The lock is held for longer than the synchronized method runs in which it is taken.
    static void outlives(Lock lock) throws Exception {
        long before = System.nanoTime();
        open(lock);
        long from = System.nanoTime();
        Thread.sleep(20);
        long to = System.nanoTime();
        lock.unlock();
        System.out.println("hold open " + (to - from) + " " + (System.nanoTime() - before) + " lock");
    }

    static synchronized void open(Lock lock) {
        lock.lock();
    }

    static void virtualThreads(int threads) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch done = new CountDownLatch(threads);
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < threads; ++i) start.invoke(null, (Runnable) () -> virtual(lock, done));
        done.await();
        expect("virtual", "lock", threads, threads, -1);
    }

    static void virtual(Lock lock, CountDownLatch done) {
        lock.lock();
        Thread.yield();
        lock.unlock();
        done.countDown();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) { // until a recording has been attached
            System.out.println("ready");
            System.in.read();
        }
        ReentrantLock lock = new ReentrantLock();
        everything("lock", lock, lock, true);
        ReentrantReadWriteLock locks = new ReentrantReadWriteLock();
        everything("write lock", locks.writeLock(), locks.writeLock(), true);
        everything("read lock", locks.writeLock(), locks.readLock(), true);
        readers(locks);
        stamped(new StampedLock());
        conditions();
        semaphores();
        latches();
        inversion();
        inversionBehindTried();
        outlives(new ReentrantLock());
        if (Runtime.version().feature() >= 21) virtualThreads(2000);
    }
}
