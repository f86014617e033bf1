import java.nio.file.Path;
import jprof.events.Mark;
import jprof.events.Options;
import jprof.events.Trace;

/** Writes marks: MarkProgram WHAT [TEXT...]. */
public final class MarkProgram {
    private static void threads() throws InterruptedException {
        Thread[] threads = new Thread[8];
        for (int i = 0; i < 8; ++i) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 2000; ++k) {
                    if (!Mark.mark("of a thread")) {
                        System.exit(3);
                    }
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void open(String[] args) throws Exception {
        if (args.length > 1) {
            Trace.open(Path.of(args[1]));
        } else {
            try {
                Trace.openFromEnvironment(new Options());
            } catch (IllegalStateException refused) {
                System.out.println(refused.getMessage());
            }
        }
        System.out.println(Mark.mark("opened"));
        Trace.close();
        System.out.println(Mark.mark("closed"));
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "say" -> {
                for (int i = 1; i < args.length; ++i) {
                    System.out.println(Mark.mark(args[i]));
                }
            }
            case "odd" -> Mark.mark("a\u001b[31m\n\0" + "\u00e4".repeat(130));
            case "null" -> System.out.println(Mark.mark(null));
            case "threads" -> threads();
            case "open" -> open(args);
            default -> System.exit(2);
        }
    }
}
