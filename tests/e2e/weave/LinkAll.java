import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Links every woven class, and so has the JVM verify it, without initialising it. Exit status 1 if
 * there is a failure.
 *
 * <p>LinkAll OUT [JAR...]; OUT: what WeaveAll has written. The modules in it are this JVM's own
 * (--patch-module); the woven classes of jars are found before those in the jars.
 */
public final class LinkAll {
    private static final int MOST_SHOWN = 20;

    /** Ignores manifests: of a sealed package some classes are woven, and so not in its jar. */
    private static final class Loader extends URLClassLoader {
        Loader(List<URL> urls) {
            super(urls.toArray(new URL[0]));
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            URL found = findResource(name.replace('.', '/') + ".class");
            if (found == null) throw new ClassNotFoundException(name);
            try (InputStream in = found.openStream()) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private final Map<String, Integer> missing = new TreeMap<>();
    private int classes;
    private int verified;
    private int failures;

    private void count(String what, int number) {
        missing.merge(what, number, Integer::sum);
    }

    /** Asking for a class's methods links it first (HotSpot: JVM_GetClassDeclaredMethods). */
    private void link(String name, Function<String, Class<?>> find) {
        classes++;
        try {
            Class<?> found = find.apply(name);
            if (found == null) throw new NoClassDefFoundError(name);
            found.getDeclaredConstructors();
            verified++;
        } catch (NoClassDefFoundError | TypeNotPresentException | IllegalAccessError e) {
            count(e.toString(), 1);
        } catch (Throwable e) {
            if (++failures <= MOST_SHOWN) System.out.println("FAILED " + name + ": " + e);
        }
    }

    private static List<String> classesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<String> names = new ArrayList<>();
            for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                String path = folder.relativize(file).toString();
                if (!path.endsWith(".class")) continue;
                String name = path.substring(0, path.length() - 6).replace('/', '.');
                if (!name.endsWith("module-info")) names.add(name);
            }
            return names;
        }
    }

    private void linkModules(Path out) throws IOException {
        try (Stream<Path> folders = Files.list(out)) {
            for (Path folder : (Iterable<Path>) folders.sorted()::iterator) {
                String name = folder.getFileName().toString();
                if (name.endsWith(".jar")) continue;
                Optional<Module> module = ModuleLayer.boot().findModule(name);
                List<String> woven = classesIn(folder);
                if (module.isEmpty()) {
                    count("module " + name + " is not in this JVM", woven.size());
                } else {
                    for (String one : woven) link(one, found -> Class.forName(module.get(), found));
                }
            }
        }
    }

    private static Class<?> load(ClassLoader loader, String name) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    public static void main(String[] args) throws IOException {
        Path out = Path.of(args[0]);
        List<URL> urls = new ArrayList<>();
        List<Path> folders = new ArrayList<>();
        LinkAll all = new LinkAll();
        for (String jar : Arrays.asList(args).subList(1, args.length)) {
            Path folder = out.resolve(Path.of(jar).getFileName());
            if (!Files.isDirectory(folder)) continue;
            folders.add(folder);
            urls.add(folder.toUri().toURL());
            urls.add(Path.of(jar).toUri().toURL());
        }
        all.linkModules(out);
        ClassLoader loader = new Loader(urls);
        for (Path folder : folders) {
            for (String name : classesIn(folder)) all.link(name, found -> load(loader, found));
        }
        System.out.printf("verified by JVM %s: %d of %d woven classes, %d failed%n",
                Runtime.version(), all.verified, all.classes, all.failures);
        all.missing.forEach((what, number) ->
                System.out.println("not verified: " + what + ": " + number));
        System.exit(all.failures > 0 || all.verified == 0 ? 1 : 0);
    }
}
