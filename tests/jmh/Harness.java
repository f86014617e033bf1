import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.Profiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;

/**
 * Does with a profiler what JMH does for one fork: Harness OPTIONS BENCHMARK OPS-PER-INVOCATION
 * COMMAND..., where COMMAND is the forked JVM. Prints the results.
 */
public final class Harness {
    public static void main(String[] words) throws Exception {
        for (Profiler found : java.util.ServiceLoader.load(Profiler.class)) {
            String name = found.getClass().getCanonicalName();
            System.out.println("found " + name + ": " + found.getDescription());
        }
        ExternalProfiler profiler;
        try {
            profiler = (ExternalProfiler) Class.forName("jprof").getConstructor(String.class)
                .newInstance(words[0]);
        } catch (java.lang.reflect.InvocationTargetException error) {
            if (!(error.getCause() instanceof ProfilerException)) throw error;
            System.out.println("refused: " + error.getCause().getMessage());
            return;
        }
        BenchmarkParams params = new BenchmarkParams(words[1], Integer.parseInt(words[2]));
        List<String> command = new ArrayList<>(profiler.addJVMInvokeOptions(params));
        command.add(words[3]);
        command.addAll(profiler.addJVMOptions(params));
        command.addAll(List.of(words).subList(4, words.length));
        profiler.beforeTrial(params);
        File out = File.createTempFile("harness", ".out");
        File err = File.createTempFile("harness", ".err");
        Process process =
            new ProcessBuilder(command).redirectOutput(out).redirectError(err).start();
        System.out.println("status " + process.waitFor());
        BenchmarkResult trial = new BenchmarkResult(params);
        for (Result<?> result : profiler.afterTrial(trial, process.pid(), out, err))
            System.out.println(result.getLabel() + " = " + result);
        out.delete();
        err.delete();
    }
}
