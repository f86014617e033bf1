import java.nio.file.Path;
import java.util.Locale;
import jprof.events.Packet;
import shop_events.ShopEvents.Orders;

/** Reads a trace by the generated readers, and prints what it has: Read TRACE. */
public final class Read {
    public static void main(String[] args) throws Exception {
        for (Packet packet : Packet.of(Path.of(args[0]))) {
            while (packet.hasNext()) {
                System.out.println(next(packet));
            }
        }
    }

    private static String next(Packet packet) {
        Orders.OrderBeginRecord begin = Orders.OrderBeginRecord.read(packet);
        if (begin != null) {
            return String.format("begin %d %d [%s] %d",
                    begin.processor(), begin.number(), begin.customer(), begin.kind());
        }
        Orders.OrderEndRecord end = Orders.OrderEndRecord.read(packet);
        if (end != null) {
            return String.format(
                    Locale.ROOT, "end %d %d %.1f", end.number(), end.duration(), end.stock());
        }
        Orders.EverythingRecord every = Orders.EverythingRecord.read(packet);
        if (every != null) {
            return String.format("everything %d %d %d %d %d %d %d %d %d %d", every.a(), every.b(),
                    every.c(), every.d(), every.e(), every.f(), every.g(), every.h(),
                    every.k().length(), every.l().length());
        }
        if (Orders.NothingRecord.read(packet) != null) {
            return "nothing";
        }
        throw new IllegalStateException("an unknown event, or one that is not complete");
    }
}
