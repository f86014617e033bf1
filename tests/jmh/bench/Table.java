package bench;

/** Benchmarks whose calls per operation are known. */
public class Table {
    static long count;

    static void find() { ++count; }
    static void visit() { ++count; find(); }
    static void other() { ++count; }

    /** Three calls of find per operation, one of them by visit. */
    public static class Inner {
        public void work() {
            find();
            visit();
            find();
        }

        public void pairs() {  // two operations in one call
            visit();
            visit();
        }
    }

    /** A forked JVM as that of JMH: calls the benchmark by a stub, and other methods. */
    public static void main(String[] words) {
        Inner inner = new Inner();
        int operations = Integer.parseInt(words[1]);
        for (int i = 0; i < operations; ++i) {
            other();
            switch (words[0]) {
                case "work" -> inner.work();
                case "pairs" -> inner.pairs();
                default -> other();
            }
        }
    }
}
