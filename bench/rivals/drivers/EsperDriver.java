import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPDeployment;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.util.List;

/**
 * Counts what statements of EPL, parted by tabs, give over all events; their times are the clock, in milliseconds.
 *
 * <p>Where the first part is `batches 10`, the number after each tenth of the time is added up.
 */
final class EsperDriver {
    private static int runs;

    private EsperDriver() {}

    public static void main(String[] arguments) throws Exception {
        Driver.run(arguments[0], EsperDriver::count);
    }

    private static double[] count(List<Event> events, String question) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("E", Event.class);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPRuntime runtime = EPRuntimeProvider.getRuntime("run" + runs++, configuration);
        runtime.initialize();
        runtime.getEventService().advanceTime(events.isEmpty() ? 0 : events.get(0).ts);
        long[] found = {0};
        int batches = 1;
        for (String text : question.split("\t")) {
            if (text.startsWith("batches ")) {
                batches = Integer.parseInt(text.substring(8));
                continue;
            }
            EPCompiled compiled = EPCompilerProvider.getCompiler().compile(text, new CompilerArguments(configuration));
            EPDeployment deployment = runtime.getDeploymentService().deploy(compiled);
            for (EPStatement statement : deployment.getStatements()) {
                statement.addListener((fresh, gone, one, where) -> found[0] += fresh == null ? 0 : fresh.length);
            }
        }
        long begin = System.nanoTime();
        long last = Long.MIN_VALUE;
        long end = events.isEmpty() ? 0 : events.get(events.size() - 1).ts;
        long total = 0;
        int batch = 1;
        for (Event event : events) {
            while (batch < batches && event.ts > end * batch / batches) {
                total += found[0];
                batch++;
            }
            if (event.ts != last) {
                last = event.ts;
                runtime.getEventService().advanceTime(last);
            }
            runtime.getEventService().sendEventBean(event, "E");
        }
        runtime.getEventService().advanceTime(last + 1_000_000_000L);
        double seconds = (System.nanoTime() - begin) / 1e9;
        runtime.destroy();
        return new double[] {total + found[0], seconds};
    }
}
