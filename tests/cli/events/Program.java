import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import jprof.events.Event;
import jprof.events.Options;
import jprof.events.Trace;
import shop_events.ShopEvents;

/** The same from Java: Program DIRECTORY MODE PACKETS WHAT COUNT. */
public final class Program {
    private static int count;

    private static void orders() {
        for (int i = 0; i < count; ++i) {
            ShopEvents.Orders.orderBegin(
                    1, i, "m\u00e4\ud83d\ude00", ShopEvents.Orders.ORDER_BEGIN_KIND_CARD);
            ShopEvents.Orders.orderEnd(i, i - 2, 0.5);
            ShopEvents.Orders.nothing();
        }
    }

    private static void threads() throws InterruptedException {
        Thread[] threads = new Thread[3];
        for (int i = 0; i < 3; ++i) {
            threads[i] = new Thread(Program::orders, "orders");
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void levels() throws Exception {
        orders();
        Trace.reset();
        orders();
        Trace.setLevel("shop::*::order_end", Event.OFF);
        orders();
        System.out.println(Trace.setLevel("shop::none", Event.LOG));
    }

    private static void extremes() {
        ShopEvents.Orders.everything(
                (byte) -1, (short) -1, -1, -1, (byte) -128, Short.MIN_VALUE, Integer.MIN_VALUE,
                Long.MIN_VALUE, 1e300, 0xdeadbeefL, "x".repeat(254) + "\u00e4", null);
    }

    private static void told() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            if (line.equals("orders")) {
                orders();
            }
            System.out.println("done");
        }
    }

    public static void main(String[] args) throws Exception {
        Options.Mode mode = Options.Mode.values()[Integer.parseInt(args[1])];
        count = Integer.parseInt(args[4]);
        orders(); // off
        ShopEvents.register();
        Trace.open(Path.of(args[0]), new Options(mode, 65536, Integer.parseInt(args[2])));
        if (args[3].equals("levels")) {
            levels();
        } else if (args[3].equals("told")) {
            told();
        } else if (Trace.setLevel("*", Event.LOG) != 4) {
            System.exit(3);
        }
        switch (args[3]) {
            case "threads" -> threads();
            case "extremes" -> extremes();
            case "killed" -> {
                threads();
                orders();
                Runtime.getRuntime().halt(9); // as if it was killed: nothing is completed
            }
            default -> {}
        }
        System.out.println(Trace.discarded());
        Trace.close();
        orders();
    }
}
