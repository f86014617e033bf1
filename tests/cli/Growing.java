/** Kernels whose calls grow with n by known laws. Each counts what it does, so that no method is
 * empty, which HotSpot would not call. */
public class Growing {
    static long count;

    static void startup() { ++count; }
    static void linear() { ++count; }
    static void shared() { ++count; }
    static boolean less(int a, int b) { ++count; return a < b; }
    static void merge() { ++count; }
    static void pair() { ++count; }
    static void triple() { ++count; }
    static void quarter() { ++count; }

    static void split(int[] values, int[] room, int from, int to) {
        if (to - from < 2) return;
        int middle = (from + to) / 2;
        split(values, room, from, middle);
        split(values, room, middle, to);
        int left = from, right = middle;
        for (int i = from; i < to; ++i) {
            boolean takesLeft = right == to || (left < middle && less(values[left], values[right]));
            room[i] = values[takesLeft ? left++ : right++];
            merge();
        }
        System.arraycopy(room, from, values, from, to - from);
    }

    static void sort(int n) {
        int[] values = new int[n];
        long seed = 42;
        for (int i = 0; i < n; ++i) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            values[i] = (int) (seed >>> 33);
        }
        split(values, new int[n], 0, n);
    }

    static void pairs(int n) {
        for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) pair();
    }

    static void triples(int n) {
        for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) for (int k = 0; k < n; ++k) triple();
    }

    /** A recursion that halves n and goes into both halves of both: n^2 in calls of itself. */
    static void quarters(int n) {
        quarter();
        if (n > 1) for (int i = 0; i < 4; ++i) quarters(n / 2);
    }

    public static void main(String[] words) {
        int n = Integer.parseInt(words[0]);
        for (int i = 0; i < 500; ++i) startup();
        for (int i = 0; i < 3000 + 10 * n; ++i) shared();
        for (int i = 0; i < n; ++i) linear();
        sort(n);
        pairs(n);
        triples(n);
        quarters(n);
        System.out.println(count);
        if (words.length > 1) System.exit(n >= 200 ? Integer.parseInt(words[1]) : 0);
    }
}
