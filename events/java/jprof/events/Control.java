package jprof.events;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What events/runtime/control.c is: a thread that serves <code>jprof ctl</code>. */
final class Control implements Runnable {
    private static final int MOST_REQUEST = 65536;
    private static Control own; // guarded by Trace

    private final ServerSocketChannel server;
    private final Path socket;

    private Control(ServerSocketChannel server, Path socket) {
        this.server = server;
        this.socket = socket;
    }

    /** Does nothing if there can be no socket, for example because the path is too long. */
    static void begin(Path directory) {
        Path path = directory.resolve(".jprof-control");
        try {
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                server.bind(UnixDomainSocketAddress.of(path));
            } catch (IOException | RuntimeException failed) {
                server.close();
                return;
            }
            own = new Control(server, path);
        } catch (IOException | UnsupportedOperationException none) {
            return;
        }
        Thread thread = new Thread(null, own, "jprof events", 256 << 10);
        thread.setDaemon(true);
        thread.start();
    }

    static void end() {
        if (own == null) {
            return;
        }
        try {
            Files.deleteIfExists(own.socket);
            own.server.close();
        } catch (IOException gone) {
            // It is not served any more in either case.
        }
        own = null;
    }

    @Override
    public void run() {
        try {
            while (true) {
                SocketChannel client = server.accept();
                try (client) {
                    if (mayControl(client)) {
                        serve(client);
                    }
                } catch (IOException | RuntimeException lost) {
                    // That of another client may succeed.
                }
            }
        } catch (IOException | LinkageError closed) {
            // The trace was closed, or the runtime has no module jdk.net.
        }
    }

    private boolean mayControl(SocketChannel client) throws IOException {
        String user = client.getOption(jdk.net.ExtendedSocketOptions.SO_PEERCRED).user().getName();
        return user.equals("root") || user.equals(Files.getOwner(socket).getName());
    }

    private static void serve(SocketChannel client) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        ByteBuffer part = ByteBuffer.allocate(4096);
        while (request.size() < MOST_REQUEST && client.read(part) >= 0) {
            request.write(part.array(), 0, part.position());
            part.clear();
        }
        StringBuilder reply = new StringBuilder();
        for (String line : request.toString(StandardCharsets.UTF_8).split("\n")) {
            if (!line.isEmpty()) {
                execute(line, reply);
            }
        }
        ByteBuffer bytes = ByteBuffer.wrap(reply.toString().getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            client.write(bytes);
        }
    }

    private static void execute(String request, StringBuilder reply) {
        String[] words = request.split(" ", 3);
        try {
            if (request.equals("list")) {
                reply.append(Trace.levels()).append("ok 0\n");
            } else if (request.equals("reset")) {
                Trace.reset();
                reply.append("ok 0\n");
            } else if (words.length == 3 && words[0].equals("level")) {
                int count = Trace.setLevel(words[2], Integer.parseInt(words[1]));
                reply.append("ok ").append(count).append('\n');
            } else {
                reply.append("error this library does not know the request\n");
            }
        } catch (IOException | RuntimeException failed) {
            reply.append("error ").append(failed.getMessage()).append('\n');
        }
    }
}
