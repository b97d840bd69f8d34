import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.util.Collector;

/**
 * Writes the matches of a pattern to files, exactly once, with checkpoints, as a job that runs for long would.
 *
 * <p>Events come from memory, in one thread; the pattern has a thread for each processor. State is kept on the
 * heap, the faster of Flink's two. The clock starts with the event of a given number, when all is compiled.
 */
final class FlinkLiveDriver {
    private static final AtomicLong BEGUN = new AtomicLong();
    private static List<Event> all;
    private static long first;

    /** Milliseconds between watermarks: Flink's default; of 10, 50, 200, 400 and 1000 the fastest. */
    private static final long WATERMARKS = 200;

    private FlinkLiveDriver() {}

    /**
     * Takes the file of events, a folder, the number of the first event that counts, the milliseconds between
     * checkpoints, and those by which events may be late.
     */
    public static void main(String[] arguments) throws Exception {
        first = Long.parseLong(arguments[2]);
        long pause = Long.parseLong(arguments[3]);
        long late = Long.parseLong(arguments[4]);
        Driver.run(arguments[0], (events, question) -> follow(events, question, arguments[1], pause, late));
    }

    private static double[] follow(List<Event> events, String question, String folder, long pause, long late)
            throws Exception {
        all = events;
        BEGUN.set(0);
        Configuration settings = new Configuration();
        settings.setString("state.backend.type", "hashmap");
        settings.setString("execution.checkpointing.dir", "file://" + folder + "/state");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(Runtime.getRuntime().availableProcessors(), settings);
        environment.enableCheckpointing(pause);
        environment.getConfig().setAutoWatermarkInterval(WATERMARKS);
        environment.getConfig().enableObjectReuse();
        DataStream<Event> stream = environment
                .fromSequence(0, events.size() - 1)
                .setParallelism(1)
                .map(FlinkLiveDriver::event)
                .returns(Types.POJO(Event.class))
                .setParallelism(1)
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Event>forBoundedOutOfOrderness(Duration.ofMillis(late))
                                .withTimestampAssigner((event, before) -> event.ts))
                .setParallelism(1);
        FileSink<String> sink = FileSink.forRowFormat(
                        new org.apache.flink.core.fs.Path("file://" + folder + "/out"), new SimpleStringEncoder<String>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
        CEP.pattern(stream.keyBy(event -> event.key), FlinkDriver.pattern(question.split(" ")))
                .process(new Listed())
                .sinkTo(sink);
        environment.execute();
        double seconds = (System.nanoTime() - BEGUN.get()) / 1e9;
        return new double[] {lines(Path.of(folder, "out")), seconds};
    }

    private static Event event(long number) {
        if (number == first) {
            BEGUN.set(System.nanoTime());
        }
        return all.get((int) number);
    }

    /** How many lines the files have that are committed. */
    private static long lines(Path folder) throws IOException {
        long count = 0;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.isRegularFile(file) && !file.getFileName().toString().startsWith(".")) {
                    try (Stream<String> lines = Files.lines(file)) {
                        count += lines.count();
                    }
                }
            }
        }
        return count;
    }

    /** Writes a match as its key and the times of its events. */
    private static final class Listed extends PatternProcessFunction<Event, String> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<String> out) {
            StringJoiner line = new StringJoiner(",");
            for (List<Event> step : match.values()) {
                for (Event event : step) {
                    if (line.length() == 0) {
                        line.add(Long.toString(event.key));
                    }
                    line.add(Long.toString(event.ts));
                }
            }
            out.collect(line.toString());
        }
    }
}
