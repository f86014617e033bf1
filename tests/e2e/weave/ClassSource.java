import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The classes of one jar file or of one module of the running JDK, by name (java/lang/String). */
final class ClassSource {
    private static final String SUFFIX = ".class";

    final String name;
    final Map<String, Path> classes = new TreeMap<>();

    private ClassSource(String name, Path root) throws IOException {
        this.name = name;
        List<Path> files;
        try (Stream<Path> found = Files.walk(root)) {
            files = new ArrayList<>(found.filter(f -> f.toString().endsWith(SUFFIX)).toList());
        }
        Collections.sort(files);
        for (Path file : files) {
            String path = root.relativize(file).toString();
            classes.put(path.substring(0, path.length() - SUFFIX.length()), file);
        }
    }

    static ClassSource ofJar(String jar) throws IOException {
        Path path = Path.of(jar);
        Path root = FileSystems.newFileSystem(path.toRealPath()).getPath("/");
        return new ClassSource(path.getFileName().toString(), root);
    }

    /** The modules of the running JDK. */
    static List<ClassSource> ofJdk() throws IOException {
        List<ClassSource> modules = new ArrayList<>();
        Path all = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> found = Files.list(all)) {
            for (Path module : (Iterable<Path>) found.sorted()::iterator) {
                modules.add(new ClassSource(module.getFileName().toString(), module));
            }
        }
        return modules;
    }
}
