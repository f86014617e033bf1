import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;

/**
 * The profiler that JMH finds by {@code -prof jprof} (docs/JMH.md). Each forked JVM is started by
 * {@code jprof calltree}, which counts its calls exactly. Afterwards the calls below the
 * benchmark's method are divided by the number of operations, which is how often that method was
 * called, so that warm-up and measurement are both in it.
 *
 * <p>JMH names a profiler by its class, so this one has the name of the command and no package.
 */
public final class jprof implements ExternalProfiler {
    private static final String LABEL = "jprof.calls";
    private static final String UNIT = "calls/op";
    private static final int MOST_LINES = 60;
    private static final double LEAST_SHOWN = 0.0005;  // calls per operation, which round to 0.001

    private String command;
    private int top = 10;
    private Path folder;     // where profiles are kept; null: they are removed
    private Path temporary;
    private Path profile;    // of the fork that runs
    private int forks;

    /** Used by JMH only to list the profilers. */
    public jprof() {}

    /** Takes {@code name=value} separated by semicolons: command, top, dir. */
    public jprof(String options) throws ProfilerException {
        for (String option : options.split(";")) {
            if (!option.isBlank()) set(option.trim());
        }
        if (command == null) command = nextToThisJar();
        try {
            output(List.of(command, "--version"));
        } catch (IOException error) {
            throw new ProfilerException("jprof cannot be started: " + error.getMessage()
                + "; put it in PATH, or name it: -prof \"jprof:command=/path/to/jprof\"");
        }
    }

    private void set(String option) throws ProfilerException {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        String value = option.substring(equals + 1);
        if (equals < 0 || value.isEmpty())
            throw new ProfilerException("jprof: '" + option + "' has no value");
        try {
            switch (name) {
                case "command" -> command = value;
                case "top" -> top = Integer.parseInt(value);
                case "dir" -> folder = Files.createDirectories(Path.of(value));
                default -> throw new ProfilerException("jprof has no option '" + name
                    + "'; it has command=FILE, top=N and dir=DIR, separated by semicolons");
            }
        } catch (NumberFormatException error) {
            throw new ProfilerException("jprof: top=" + value + " is no whole number");
        } catch (IOException error) {
            throw new ProfilerException("jprof: cannot make the directory " + value + ": " + error);
        }
        if (top < 0) throw new ProfilerException("jprof: " + option + " is below 0");
    }

    /** Returns PREFIX/bin/jprof for PREFIX/share/jprof/jprof-jmh.jar, else the name for PATH. */
    private static String nextToThisJar() {
        try {
            var source = jprof.class.getProtectionDomain().getCodeSource();
            Path jar = Path.of(source.getLocation().toURI());
            Path found = jar.resolve("../../../bin/jprof").normalize();
            if (Files.isExecutable(found)) return found.toString();
        } catch (java.net.URISyntaxException | RuntimeException error) {
            // The class is not in a file.
        }
        return "jprof";
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        try {
            if (folder == null && temporary == null) temporary = removedAtExit();
            String name = params.getBenchmark() + "-" + ++forks + ".jprof";
            profile = (folder == null ? temporary : folder).resolve(name);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return List.of(command, "calltree", "--fold-recursion", "--force", "-o", profile.toString(),
            "--");
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        return List.of();
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {}

    @Override
    public Collection<? extends Result<?>> afterTrial(BenchmarkResult result, long pid, File stdOut,
                                                      File stdErr) {
        BenchmarkParams params = result.getParams();
        try {
            Node calls = callsBelow(params.getBenchmark());
            if (calls.calls == 0)
                return List.of(new TextResult("No call of " + params.getBenchmark()
                    + " was counted; jprof report " + profile + " shows what was", "jprof"));
            return resultsOf(calls, (double) calls.calls * params.getOpsPerInvocation());
        } catch (IOException error) {
            return List.of(new TextResult("No calls were counted: " + error.getMessage(), "jprof"));
        } finally {
            if (folder == null) remove(profile);
        }
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public String getDescription() {
        return "exact numbers of calls per operation, and by whom (jprof)";
    }

    private List<Result<?>> resultsOf(Node calls, double operations) {
        Map<String, Long> methods = new TreeMap<>();
        calls.sumBelow(methods);
        long all = methods.values().stream().mapToLong(Long::longValue).sum();
        List<Result<?>> results = new ArrayList<>();
        results.add(new ScalarResult(LABEL, all / operations, UNIT, AggregationPolicy.AVG));
        methods.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(top)
            .forEach(one -> results.add(new ScalarResult(LABEL + "." + one.getKey(),
                one.getValue() / operations, UNIT, AggregationPolicy.AVG)));
        results.add(new TextResult(text(calls, operations), "jprof"));
        return results;
    }

    private String text(Node calls, double operations) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT,
            "Calls per operation, exact, of %.0f operations with warm-up:%n%n", operations));
        List<String> lines = new ArrayList<>();
        calls.print(0, operations, lines);
        lines.stream().limit(MOST_LINES).forEach(line -> text.append(line).append('\n'));
        if (lines.size() > MOST_LINES)
            text.append(lines.size() - MOST_LINES).append(" more contexts\n");
        text.append("\nThe scores of this run contain the time of counting.\n");
        if (folder != null) text.append(String.format("All of it: %s view %s%n", command, profile));
        return text.toString();
    }

    /** Returns the tree below the benchmark's method, the sum of all threads and callers. */
    private Node callsBelow(String benchmark) throws IOException {
        List<String> lines = output(List.of(command, "report", "log-rt", "--threads", "merged",
            "--format", "csv", profile.toString()));
        List<String> heading = lines.isEmpty() ? List.of() : fields(lines.get(0));
        int id = heading.indexOf("id"), parent = heading.indexOf("parent");
        int count = heading.indexOf("calls"), name = heading.indexOf("name");
        if (Math.min(Math.min(id, parent), Math.min(count, name)) < 0)
            throw new IOException("its report has no calls: this jar is of another jprof");
        Node root = new Node(benchmark);
        Map<String, Node> nodes = new HashMap<>();  // of rows in the tree, by id
        for (String line : lines.subList(1, lines.size())) {
            List<String> row = fields(line);
            Node caller = nodes.get(row.get(parent));
            String method = row.get(name);
            boolean isRoot = caller == null && dotted(method).equals(benchmark);
            if (caller == null && !isRoot) continue;
            Node node = isRoot ? root
                : caller.below.computeIfAbsent(shortened(method), Node::new);
            node.calls += Long.parseLong(row.get(count));
            nodes.put(row.get(id), node);
        }
        return root;
    }

    /** Returns a.b.Outer.Inner.method for a/b/Outer$Inner.method(I)V, as JMH names benchmarks. */
    private static String dotted(String method) {
        return unsigned(method).replace('/', '.').replace('$', '.');
    }

    /** Returns Class.method. */
    private static String shortened(String method) {
        String name = unsigned(method);
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static String unsigned(String method) {
        int end = method.indexOf('(');
        return method.substring(0, end < 0 ? method.length() : end);
    }

    /** Divides a line of CSV. Quotes are doubled inside quoted fields, which end on their line. */
    private static List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); ++i) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append('"');
                ++i;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }

    /** Returns the lines that a command prints. Fails, with what it says, if it fails. */
    private static List<String> output(List<String> words) throws IOException {
        Path errors = Files.createTempFile("jprof-jmh", ".err");
        try {
            Process process = new ProcessBuilder(words).redirectError(errors.toFile()).start();
            process.getOutputStream().close();
            List<String> lines;
            try (BufferedReader reader = new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                lines = reader.lines().toList();
            }
            int status = process.waitFor();
            if (status != 0) throw new IOException(Files.readString(errors).trim());
            return lines;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException(words.get(0) + " was interrupted");
        } finally {
            Files.deleteIfExists(errors);
        }
    }

    private static Path removedAtExit() throws IOException {
        Path made = Files.createTempDirectory("jprof-jmh");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(made)));
        return made;
    }

    private static void remove(Path path) {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList())
                Files.deleteIfExists(one);
        } catch (IOException error) {
            // It was not made, or stays where temporary files are.
        }
    }

    /** A calling context: a method by Class.method, below its callers. */
    private static final class Node {
        final String name;
        final Map<String, Node> below = new LinkedHashMap<>();
        long calls;

        Node(String name) {
            this.name = name;
        }

        void sumBelow(Map<String, Long> methods) {
            for (Node node : below.values()) {
                methods.merge(node.name, node.calls, Long::sum);
                node.sumBelow(methods);
            }
        }

        void print(int level, double operations, List<String> lines) {
            if (calls / operations < LEAST_SHOWN) return;
            lines.add(String.format(Locale.ROOT, "%14.3f  %s%s", calls / operations,
                "  ".repeat(level), name));
            below.values().stream().sorted(Comparator.comparingLong((Node node) -> -node.calls))
                .forEach(node -> node.print(level + 1, operations, lines));
        }
    }
}
