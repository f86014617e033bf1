import java.util.concurrent.CountDownLatch;

/** Takes locks a known number of times, and prints for each: class gets nonrec slow. */
public class LocksKnown {
    static final class Block {}
    static final class Nested {}
    static final class Contended {}
    static final class Left {}
    static final class Right {}
    static final class First {}
    static final class Second {}
    static final class Third {}
    static final class LongHold {}
    static final class ShortHold {}
    static final class Waiting {}
    static final class Virtual {}

    static final class Method {
        int sum;

        synchronized void once(int x) {
            sum += x;
        }

        synchronized void twice(int x) {
            once(x);
            once(-x);
        }

        static synchronized int ofClass(int x) {
            return x + 1;
        }
    }

    static final class Thrower {
        int caught;

        synchronized void fail(int x) {
            if (x >= 0) throw new IllegalStateException();
        }

        void block(int x) {
            synchronized (this) {
                if (x >= 0) throw new IllegalStateException();
            }
        }
    }

    static final class Door {
        synchronized void pass(Runnable inside) {
            inside.run();
        }
    }

    static final class Deep {
        int depth;

        synchronized void down() {
            ++depth;
            down();
        }
    }

    static void expect(Class<?> lock, long gets, long nonrec, long slow) {
        System.out.println(lock.getName() + " " + gets + " " + nonrec + " " + slow);
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void awaitBlocked(Thread thread) {
        while (thread.getState() != Thread.State.BLOCKED) Thread.onSpinWait();
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void blocks(int times) {
        Block block = new Block();
        int sum = 0;
        for (int i = 0; i < times; ++i) {
            synchronized (block) {
                sum += i;
            }
        }
        expect(Block.class, times, times, 0);
        Nested nested = new Nested();
        for (int i = 0; i < times; ++i) {
            synchronized (nested) {
                synchronized (nested) {
                    synchronized (nested) {
                        sum += i;
                    }
                }
            }
        }
        expect(Nested.class, 3L * times, times, 0);
        System.err.println(sum);
    }

    static void methods(int times) {
        Method method = new Method();
        int sum = 0;
        for (int i = 0; i < times; ++i) {
            method.once(i);
            method.twice(i);
            sum = Method.ofClass(sum);
        }
        if (method.sum != times * (times - 1) / 2 || sum != times) throw new AssertionError();
        expect(Method.class, 4L * times, 2L * times, 0);
        Thrower thrower = new Thrower();
        for (int i = 0; i < times; ++i) {
            try {
                thrower.fail(i);
            } catch (IllegalStateException e) {
                ++thrower.caught;
            }
            try {
                thrower.block(i);
            } catch (IllegalStateException e) {
                ++thrower.caught;
            }
        }
        if (thrower.caught != 2 * times) throw new AssertionError();
        expect(Thrower.class, 2L * times, 2L * times, 0);
    }

    static void takeContended(Contended lock, Runnable inside) {
        synchronized (lock) {
            inside.run();
        }
    }

    // Each time another thread has to wait.
    static void contention(int times) {
        Contended lock = new Contended();
        Door door = new Door();
        for (int i = 0; i < times; ++i) {
            Thread waiter = new Thread(() -> takeContended(lock, () -> {}));
            takeContended(lock, () -> {
                waiter.start();
                awaitBlocked(waiter);
            });
            join(waiter);
            Thread visitor = new Thread(() -> door.pass(() -> {}));
            door.pass(() -> {
                visitor.start();
                awaitBlocked(visitor);
            });
            join(visitor);
        }
        expect(Contended.class, 2L * times, 2L * times, times);
        expect(Door.class, 2L * times, 2L * times, times);
    }

    static void leftThenRight(Left left, Right right) {
        synchronized (left) {
            synchronized (right) {
                pause(1);
            }
        }
    }

    static void rightThenLeft(Left left, Right right) {
        synchronized (right) {
            synchronized (left) {
                pause(1);
            }
        }
    }

    // Takes two locks in both orders, never at the same time.
    static void inversion() {
        Left left = new Left();
        Right right = new Right();
        leftThenRight(left, right);
        Thread other = new Thread(() -> rightThenLeft(left, right));
        other.start();
        join(other);
        expect(Left.class, 2, 2, 0);
        expect(Right.class, 2, 2, 0);
    }

    // The same where one lock is taken again in between.
    static void inversionBehindAgain() {
        First first = new First();
        Second second = new Second();
        Third third = new Third();
        synchronized (first) {
            synchronized (second) {
                synchronized (first) {
                    synchronized (third) {
                        pause(1);
                    }
                }
            }
        }
        Thread other = new Thread(() -> {
            synchronized (third) {
                synchronized (second) {
                    pause(1);
                }
            }
        });
        other.start();
        join(other);
        expect(First.class, 2, 1, 0);
    }

    static void holds() throws InterruptedException {
        synchronized (new LongHold()) {
            pause(200);
        }
        synchronized (new ShortHold()) {
            pause(20);
        }
        Waiting waiting = new Waiting();
        synchronized (waiting) {
            waiting.wait(400);
        }
        expect(LongHold.class, 1, 1, 0);
        expect(ShortHold.class, 1, 1, 0);
        expect(Waiting.class, 1, 1, 0);
    }

    // After the stack has overflowed, the monitor is free and counted as such.
    static void overflow() throws InterruptedException {
        Deep deep = new Deep();
        try {
            deep.down();
        } catch (StackOverflowError e) {
            System.err.println("depth " + deep.depth);
        }
        Thread other = new Thread(() -> {
            synchronized (deep) {
                deep.depth = 0;
            }
        });
        other.start();
        other.join();
    }

    static void virtualThreads(int threads) throws Exception {
        Virtual lock = new Virtual();
        CountDownLatch done = new CountDownLatch(threads);
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < threads; ++i) {
            start.invoke(null, (Runnable) () -> {
                synchronized (lock) {
                    Thread.yield();
                }
                done.countDown();
            });
        }
        done.await();
        expect(Virtual.class, threads, threads, -1);
    }

    public static void main(String[] arguments) throws Exception {
        blocks(50_000);
        methods(20_000);
        contention(20);
        inversion();
        inversionBehindAgain();
        holds();
        overflow();
        if (Runtime.version().feature() >= 21) virtualThreads(2000);
    }
}
