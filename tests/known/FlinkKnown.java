import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Lists what the patterns of the page on Flink CEP find in a few events, as EsperKnown does. */
final class FlinkKnown {
    private static List<Event> all;
    private static int found;

    public static void main(String[] arguments) throws Exception {
        Driver.run(arguments[0], (events, name) -> {
            all = events;
            found = 0;
            StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
            var stream = environment.fromSequence(0, events.size() - 1).map(FlinkKnown::event)
                    .returns(Types.POJO(Event.class))
                    .assignTimestampsAndWatermarks(WatermarkStrategy.<Event>forMonotonousTimestamps()
                            .withTimestampAssigner((event, before) -> event.ts));
            boolean keyed = name.startsWith("keyBy");
            CEP.pattern(stream.keyBy(event -> keyed ? event.key : 0L), pattern(name)).process(new Told())
                    .sinkTo(new DiscardingSink<>());
            environment.execute();
            return new double[] {found, 0};
        });
    }

    private static Event event(long number) {
        return all.get((int) number);
    }

    private static SimpleCondition<Event> is(String type) {
        return SimpleCondition.of(event -> event.type.equals(type));
    }

    private static Pattern<Event, Event> a() {
        return Pattern.<Event>begin("a").where(is("A"));
    }

    private static Pattern<Event, Event> pattern(String name) {
        return switch (name) {
            case "where" -> Pattern.<Event>begin("a").where(is("A"))
                    .where(SimpleCondition.of(event -> event.price > 10));
            case "next" -> a().next("b").where(is("B"));
            case "followedBy" -> a().followedBy("b").where(is("B"));
            case "followedByAny", "keyBy" -> a().followedByAny("b").where(is("B"));
            case "notNext" -> a().notNext("x").where(is("B")).followedByAny("c").where(is("C"));
            case "notFollowedBy" -> a().notFollowedBy("x").where(is("C")).followedByAny("b").where(is("B"));
            case "notFollowedBy.within" -> a().notFollowedBy("x").where(is("B")).within(Duration.ofMillis(2000));
            case "consecutive" -> a().oneOrMore().consecutive().followedByAny("b").where(is("B"));
            case "relaxed" -> a().oneOrMore().followedByAny("b").where(is("B"));
            case "times" -> a().times(2).consecutive();
            case "timesOrMore" -> a().timesOrMore(2).consecutive().next("b").where(is("B"));
            case "combinations" -> a().oneOrMore().allowCombinations().followedByAny("b").where(is("B"));
            case "optional" -> a().next("b").where(is("B")).optional().next("c").where(is("C"));
            case "or" -> Pattern.<Event>begin("a").where(is("A")).or(is("B")).next("c").where(is("C"));
            case "iterative" -> a().followedByAny("b").where(is("B")).where(new Higher());
            case "within" -> a().followedByAny("b").where(is("B")).within(Duration.ofMillis(2000));
            case "skipPastLastEvent" -> Pattern.<Event>begin("a", AfterMatchSkipStrategy.skipPastLastEvent())
                    .where(is("A")).followedBy("b").where(is("B"));
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static final class Higher extends IterativeCondition<Event> {
        @Override
        public boolean filter(Event event, Context<Event> earlier) throws Exception {
            for (Event before : earlier.getEventsForPattern("a")) {
                if (event.price <= before.price) {
                    return false;
                }
            }
            return true;
        }
    }

    private static final class Told extends PatternProcessFunction<Event, Long> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<Long> out) {
            found++;
            System.out.println(new TreeMap<>(match).entrySet().stream()
                    .map(part -> part.getKey() + "=" + part.getValue().stream()
                            .map(event -> Long.toString(event.ts)).collect(Collectors.joining("+")))
                    .collect(Collectors.joining(" ", "match ", "")));
        }
    }
}
