import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventBean;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.util.Map;
import java.util.TreeMap;

/** Lists what statements of EPL find in a few events: a line for each match, its names with the times of their events. */
final class EsperKnown {
    public static void main(String[] arguments) throws Exception {
        Driver.run(arguments[0], (events, text) -> {
            Configuration configuration = new Configuration();
            for (String name : new String[] {"A", "B", "C"}) {
                configuration.getCommon().addEventType(name, Event.class);
            }
            configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
            EPRuntime runtime = EPRuntimeProvider.getRuntime(text, configuration);
            runtime.initialize();
            runtime.getEventService().advanceTime(0);
            EPCompiled compiled = EPCompilerProvider.getCompiler().compile(text, new CompilerArguments(configuration));
            double[] found = {0};
            for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
                statement.addListener((fresh, gone, one, where) -> {
                    for (EventBean match : fresh == null ? new EventBean[0] : fresh) {
                        found[0]++;
                        StringBuilder line = new StringBuilder("match");
                        for (Map.Entry<?, ?> part : new TreeMap<>((Map<?, ?>) match.getUnderlying()).entrySet()) {
                            line.append(' ').append(part.getKey()).append('=').append(times(part.getValue()));
                        }
                        System.out.println(line);
                    }
                });
            }
            for (Event event : events) {
                runtime.getEventService().advanceTime(event.ts);
                runtime.getEventService().sendEventBean(event, event.type);
            }
            runtime.getEventService().advanceTime(1_000_000_000L);
            runtime.destroy();
            return new double[] {found[0], 0};
        });
    }

    private static String times(Object value) {
        if (value instanceof EventBean one) {
            return times(one.getUnderlying());
        }
        if (value instanceof Event event) {
            return Long.toString(event.ts);
        }
        if (value instanceof Object[] many) {
            return java.util.Arrays.stream(many).map(EsperKnown::times).collect(java.util.stream.Collectors.joining("+"));
        }
        return "";
    }
}
