import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.objectweb.asm.ClassReader;

/**
 * Weaves every class of the running JDK and of jars, checks the results with ASM, writes them to
 * OUT/NAME of the module or jar, and prints a table. Exit status 1 if there is a failure.
 *
 * <p>WeaveAll TOOL OUT MODULES [JAR...]; MODULES: names with commas between them, "all" or "none".
 */
public final class WeaveAll {
    private static final int MOST_SHOWN = 20;

    private final AsmCheck asm;
    private final Path out;
    private final Map<String, Integer> missing = new TreeMap<>();
    private int failures;

    private WeaveAll(AsmCheck asm, Path out) {
        this.asm = asm;
        this.out = out;
    }

    /** A row of the table. */
    private static final class Row {
        final String name;
        int classes;
        int counted;
        final int[] left = new int[WeaveTool.REASONS.length];
        int verified;
        int unverified;
        int failed;
        final List<Long> nanoseconds = new ArrayList<>();

        Row(String name) {
            this.name = name;
        }

        void add(Row other) {
            classes += other.classes;
            counted += other.counted;
            for (int i = 0; i < left.length; i++) left[i] += other.left[i];
            verified += other.verified;
            unverified += other.unverified;
            failed += other.failed;
            nanoseconds.addAll(other.nanoseconds);
        }

        double microseconds(double part) {
            Collections.sort(nanoseconds);
            int last = nanoseconds.size() - 1;
            return last < 0 ? 0 : nanoseconds.get((int) (part * last)) / 1e3;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(
                    String.format("%-32.32s %8d %9d", name, classes, counted));
            for (int count : left) text.append(String.format(" %12d", count));
            return text.append(String.format(" %8d %8d %6d %9.1f %9.1f", verified, unverified,
                    failed, microseconds(0.5), microseconds(0.99))).toString();
        }
    }

    private static String head() {
        StringBuilder text = new StringBuilder(
                String.format("%-32s %8s %9s", "", "classes", "counted"));
        for (String reason : WeaveTool.REASONS) text.append(String.format(" %12s", reason));
        return text.append(String.format(" %8s %8s %6s %9s %9s", "verified", "not ver.", "failed",
                "median us", "p99 us")).toString();
    }

    private void fail(Row row, String name, String why) {
        row.failed++;
        if (++failures <= MOST_SHOWN) System.out.println("FAILED " + name + ": " + why);
    }

    private void check(Row row, String name, byte[] before, byte[] woven) {
        try {
            String failure = asm.failureOf(woven);
            if (failure == null) {
                row.verified++;
            } else if (asm.failureOf(before) == null) {
                fail(row, name, failure);
            } else {
                row.unverified++;
                missing.merge("ASM refuses the class as it was", 1, Integer::sum);
            }
        } catch (Hierarchy.Missing e) {
            row.unverified++;
            missing.merge(e.getMessage() + " is missing", 1, Integer::sum);
        }
    }

    private void checkMonitors(Row row, String name, byte[] before, byte[] woven) {
        Set<String> unbalanced = AsmCheck.unbalanced(woven);
        if (unbalanced.isEmpty()) return;
        unbalanced.removeAll(AsmCheck.unbalanced(before));
        for (String method : unbalanced) {
            fail(row, name, method + " has unbalanced monitors, so HotSpot does not compile it");
        }
    }

    private Row weave(ClassSource source, WeaveTool tool, WeaveTool unchanged) throws IOException {
        Row row = new Row(source.name);
        for (Map.Entry<String, Path> entry : source.classes.entrySet()) {
            byte[] before = Files.readAllBytes(entry.getValue());
            WeaveTool.Result result = tool.weave(before);
            row.classes++;
            row.counted += result.counted();
            for (int i = 0; i < row.left.length; i++) row.left[i] += result.left()[i];
            row.nanoseconds.add(result.nanoseconds());
            if (result.error() != null) fail(row, entry.getKey(), result.error());
            if (result.bytes() == null) continue;
            check(row, entry.getKey(), before, result.bytes());
            checkMonitors(row, entry.getKey(), before, result.bytes());
            checkUnchanged(row, entry.getKey(), before, unchanged);
            write(source.name, entry.getKey(), result.bytes());
        }
        return row;
    }

    private static String nameOf(byte[] bytes) {
        return new ClassReader(Hierarchy.readable(bytes)).getClassName();
    }

    /** By its name, as Jython's are in other folders. Versions for other JDKs are not written. */
    private void write(String source, String path, byte[] woven) throws IOException {
        if (path.startsWith("META-INF/")) return;
        Path to = out.resolve(source).resolve(nameOf(woven) + ".class");
        Files.createDirectories(to.getParent());
        Files.write(to, woven);
    }

    /** Without insertions the bytes stay the same; old classes may lose attributes (StackMap). */
    private void checkUnchanged(Row row, String name, byte[] before, WeaveTool unchanged)
            throws IOException {
        byte[] after = unchanged.weave(before).bytes();
        boolean may = (before[7] & 0xff) < 50 && after.length < before.length;
        if (!may && !Arrays.equals(before, after)) fail(row, name, "rewritten, it differs");
    }

    public static void main(String[] args) throws IOException {
        List<ClassSource> sources = new ArrayList<>();
        Map<String, Path> files = new HashMap<>();
        for (ClassSource module : ClassSource.ofJdk()) {
            files.putAll(module.classes);
            boolean named = Arrays.asList(args[2].split(",")).contains(module.name);
            if (named || args[2].equals("all")) sources.add(module);
        }
        for (String jar : Arrays.asList(args).subList(3, args.length)) {
            ClassSource source = ClassSource.ofJar(jar);
            for (Path file : source.classes.values()) {
                files.putIfAbsent(nameOf(Files.readAllBytes(file)), file);
            }
            sources.add(source);
        }
        WeaveAll all = new WeaveAll(new AsmCheck(files), Path.of(args[1]));
        Row sum = new Row("all");
        try (WeaveTool tool = new WeaveTool(args[0]);
                WeaveTool unchanged = new WeaveTool(args[0], "--unchanged")) {
            System.out.println(head());
            for (ClassSource source : sources) {
                Row row = all.weave(source, tool, unchanged);
                if (row.classes > 0) System.out.println(row);
                sum.add(row);
            }
        }
        System.out.println(sum);
        all.missing.forEach((what, number) ->
                System.out.println("not verified: " + what + ": " + number));
        System.exit(all.failures > 0 || sum.classes == 0 ? 1 : 0);
    }
}
