package jprof.events;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/** Files that are written as memory. */
final class MappedFile {
    private MappedFile() {}

    /** Makes a file of zeros, all of them on the disk, so that writing cannot meet a full disk. */
    static MappedByteBuffer make(Path path, int bytes) throws IOException {
        try (FileChannel file =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocate(bytes);
            while (zeros.hasRemaining()) {
                file.write(zeros);
            }
            MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
            mapped.order(ByteOrder.LITTLE_ENDIAN);
            return mapped;
        } catch (IOException failed) {
            Files.deleteIfExists(path);
            throw failed;
        }
    }

    /** Returns a name as 16 bytes of ASCII with a zero at the end. */
    static byte[] name(String name) {
        byte[] bytes = Arrays.copyOf(name.getBytes(java.nio.charset.StandardCharsets.US_ASCII), 16);
        bytes[15] = 0;
        return bytes;
    }
}
