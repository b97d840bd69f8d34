import io.siddhi.core.SiddhiAppRuntime;
import io.siddhi.core.SiddhiManager;
import io.siddhi.core.stream.input.InputHandler;
import io.siddhi.core.stream.output.StreamCallback;
import java.util.List;

/** Counts what queries, parted by tabs, insert into the stream Out; the times of events are the clock, in milliseconds. */
final class SiddhiDriver {
    private static final String STREAMS = "@app:playback define stream E (ts long, type string, key long, price double); "
            + "define stream Tick (ts long); define stream Out (one int); ";
    // The clock begins after 0.
    private static final long BEFORE = 1_000_000L;

    private SiddhiDriver() {}

    public static void main(String[] arguments) throws Exception {
        Driver.run(arguments[0], SiddhiDriver::count);
    }

    private static double[] count(List<Event> events, String question) throws Exception {
        SiddhiManager manager = new SiddhiManager();
        SiddhiAppRuntime runtime = manager.createSiddhiAppRuntime(STREAMS + question.replace("\t", " "));
        long[] found = {0};
        runtime.addCallback("Out", new StreamCallback() {
            @Override
            public void receive(io.siddhi.core.event.Event[] fresh) {
                found[0] += fresh.length;
            }
        });
        runtime.start();
        InputHandler stream = runtime.getInputHandler("E");
        long begin = System.nanoTime();
        long last = 0;
        for (Event event : events) {
            last = event.ts;
            stream.send(BEFORE + last, new Object[] {event.ts, event.type, event.key, event.price});
        }
        // What waits for silence is answered when time has passed.
        runtime.getInputHandler("Tick").send(BEFORE + last + 1_000_000_000L, new Object[] {last});
        double seconds = (System.nanoTime() - begin) / 1e9;
        runtime.shutdown();
        manager.shutdown();
        return new double[] {found[0], seconds};
    }
}
