import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The running program weave_stream (tests/weave_stream.cc). */
final class WeaveTool implements AutoCloseable {
    static final String[] REASONS = {
        "too large", "not compiled", "jump too far", "pool full", "finalizer"
    };

    /** What became of a class: its bytes (null: unchanged) or an error. */
    record Result(byte[] bytes, String error, long nanoseconds, int counted, int[] left) {}

    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;

    WeaveTool(String... command) throws IOException {
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
        from = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
    }

    Result weave(byte[] bytes) throws IOException {
        to.writeInt(Integer.reverseBytes(bytes.length));
        to.write(bytes);
        to.flush();
        int size = number();
        String error = null;
        byte[] woven = null;
        if (size == -1) {
            error = new String(from.readNBytes(number()), StandardCharsets.UTF_8);
        } else if (size > 0) {
            woven = from.readNBytes(size);
        }
        long nanoseconds = Integer.toUnsignedLong(number());
        int counted = number();
        int[] left = new int[REASONS.length];
        for (int i = 0; i < left.length; i++) left[i] = number();
        return new Result(woven, error, nanoseconds, counted, left);
    }

    private int number() throws IOException {
        return Integer.reverseBytes(from.readInt());
    }

    @Override
    public void close() throws IOException {
        to.close();
    }
}
