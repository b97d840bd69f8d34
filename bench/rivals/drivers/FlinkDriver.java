import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.WithinType;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * Counts the matches of a pattern that Flink CEP finds in all events, in a cluster inside this process.
 *
 * <p>A question is a word for each call, in their order: `begin`, `next`, `then` (followedBy), `any`
 * (followedByAny), `sets` (followedByAny, one or more, all combinations) and `not` (notFollowedBy), each with its types, `A|B` or `*`, and its conditions, `rises:0` (the price is above that of step 0)
 * or `least:30` or `above:30`; then `within:200`, a number that the times may lie apart at most, or `gap:200`, the
 * same of each event and the one before it in the match, and `keyed` or `whole`.
 */
final class FlinkDriver {
    private static final AtomicLong FOUND = new AtomicLong();
    private static final AtomicLong BEGUN = new AtomicLong();
    private static List<Event> all;

    private FlinkDriver() {}

    public static void main(String[] arguments) throws Exception {
        Driver.run(arguments[0], FlinkDriver::count);
    }

    private static double[] count(List<Event> events, String question) throws Exception {
        all = events;
        FOUND.set(0);
        BEGUN.set(0);
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.getConfig().enableObjectReuse();
        DataStream<Event> stream = environment
                .fromSequence(0, events.size() - 1)
                .map(FlinkDriver::event)
                .returns(Types.POJO(Event.class))
                .assignTimestampsAndWatermarks(WatermarkStrategy.<Event>forMonotonousTimestamps()
                        .withTimestampAssigner((event, before) -> event.ts));
        boolean keyed = question.endsWith(" keyed");
        CEP.pattern(stream.keyBy(event -> keyed ? event.key : 0L), pattern(question.split(" ")))
                .process(new Counted())
                .sinkTo(new DiscardingSink<>());
        environment.execute();
        return new double[] {FOUND.get(), (System.nanoTime() - BEGUN.get()) / 1e9};
    }

    private static Event event(long number) {
        BEGUN.compareAndSet(0, System.nanoTime());
        return all.get((int) number);
    }

    static Pattern<Event, Event> pattern(String[] words) {
        Pattern<Event, Event> pattern = null;
        int steps = 0;
        for (String word : words) {
            String[] parts = word.split("[(),]+");
            switch (parts[0]) {
                case "begin" -> pattern = Pattern.begin("s" + steps++);
                case "next" -> pattern = pattern.next("s" + steps++);
                case "then" -> pattern = pattern.followedBy("s" + steps++);
                case "sets" -> {
                    pattern = pattern.followedByAny("s" + steps++).where(new Meets(parts));
                    pattern = pattern.oneOrMore().allowCombinations();
                    continue;
                }
                case "any" -> pattern = pattern.followedByAny("s" + steps++);
                case "not" -> pattern = pattern.notFollowedBy("not" + steps);
                default -> {
                    if (word.startsWith("within:")) {
                        // The window of Flink is exclusive.
                        pattern = pattern.within(Duration.ofMillis(Long.parseLong(word.substring(7)) + 1));
                    }
                    if (word.startsWith("gap:")) {
                        long apart = Long.parseLong(word.substring(4)) + 1;
                        pattern = pattern.within(Duration.ofMillis(apart), WithinType.PREVIOUS_AND_CURRENT);
                    }
                    continue;
                }
            }
            pattern = pattern.where(new Meets(parts));
        }
        return pattern;
    }

    /** What an event of a step has to be. */
    private static final class Meets extends IterativeCondition<Event> {
        private final List<String> types;
        private final int[] below;
        private final double least;
        private final double above;

        Meets(String[] parts) {
            types = List.of(parts[1].split("\\|"));
            below = java.util.Arrays.stream(parts)
                    .filter(part -> part.startsWith("rises:"))
                    .mapToInt(part -> Integer.parseInt(part.substring(6)))
                    .toArray();
            least = bound(parts, "least:");
            above = bound(parts, "above:");
        }

        private static double bound(String[] parts, String word) {
            return java.util.Arrays.stream(parts)
                    .filter(part -> part.startsWith(word))
                    .mapToDouble(part -> Double.parseDouble(part.substring(word.length())))
                    .findFirst()
                    .orElse(Double.NEGATIVE_INFINITY);
        }

        @Override
        public boolean filter(Event event, Context<Event> earlier) throws Exception {
            if (!types.get(0).equals("*") && !types.contains(event.type)) {
                return false;
            }
            if (least != Double.NEGATIVE_INFINITY && !(event.price >= least)) {
                return false;
            }
            if (above != Double.NEGATIVE_INFINITY && !(event.price > above)) {
                return false;
            }
            for (int step : below) {
                for (Event before : earlier.getEventsForPattern("s" + step)) {
                    if (!(event.price > before.price)) {
                        return false;
                    }
                }
            }
            return true;
        }
    }

    /** Counts, and gives nothing on. */
    private static final class Counted extends PatternProcessFunction<Event, Long> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<Long> out) {
            FOUND.incrementAndGet();
        }
    }
}
