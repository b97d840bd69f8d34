import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/**
 * Runs statements of Flink SQL over a table in memory, in a cluster inside this process.
 *
 * <p>It reads a line for each request. `load FILE` reads a CSV file, whose header has a name and a type for each
 * column, `long`, `double`, `text` or `time` (milliseconds; rows ascend by it), and names the table `trades`; it
 * answers `ready`. `streaming PARALLELISM SQL` and `batch PARALLELISM SQL` run a statement: `answer ROWS CHECKSUM
 * SECONDS PROCESSOR`, the time from the first row that is read, and that of the processor. A statement that fails is answered by `cannot` and the reason.
 *
 * <p>With `rows NUMBER` before these words so many statements run in one job, all but the first on lines of their
 * own. Each row is written, too: `row`, the statement's number and the values, with tabs between them. A statement
 * that Flink refuses is told by `refused`, its number and the reason, and the others run.
 */
final class FlinkSqlDriver {
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final AtomicLong BEGUN = new AtomicLong();
    private static final AtomicLong USED = new AtomicLong();
    private static final AtomicLong FOUND = new AtomicLong();
    private static final AtomicLong SUM = new AtomicLong();
    private static final ConcurrentLinkedQueue<String> WRITTEN = new ConcurrentLinkedQueue<>();
    private static final long NULL = -7;

    private static List<Row> rows;
    private static String[] names;
    private static String[] types;

    private FlinkSqlDriver() {}

    public static void main(String[] arguments) throws Exception {
        // Whoever stops the process that asks stops this one, too.
        ProcessHandle.current().parent().ifPresent(one -> one.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            try {
                if (line.startsWith("load ")) {
                    load(Path.of(line.substring(5)));
                    out.println("ready");
                } else {
                    boolean writes = line.startsWith("rows ");
                    String[] words = line.split(" ", writes ? 5 : 3);
                    int first = writes ? 2 : 0;
                    List<String> statements = new ArrayList<>(List.of(words[first + 2]));
                    while (writes && statements.size() < Integer.parseInt(words[1])) {
                        statements.add(requests.readLine());
                    }
                    double[] seconds = run(words[first], Integer.parseInt(words[first + 1]), statements, writes);
                    for (String row = WRITTEN.poll(); row != null; row = WRITTEN.poll()) {
                        out.println(row);
                    }
                    out.println("answer " + FOUND.get() + " " + SUM.get() + " " + seconds[0] + " " + seconds[1]);
                }
            } catch (Exception | Error error) {
                out.println("cannot " + reason(error));
            }
        }
        System.exit(0);
    }

    private static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return (cause + "").replaceAll("\\s+", " ");
    }

    private static void load(Path path) throws Exception {
        rows = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(path)) {
            String[] columns = lines.readLine().replace("\"", "").split(",");
            names = new String[columns.length];
            types = new String[columns.length];
            for (int column = 0; column < columns.length; column++) {
                names[column] = columns[column].split(":")[0];
                types[column] = columns[column].split(":")[1];
            }
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] cells = line.split(",", -1);
                Row row = new Row(columns.length);
                for (int column = 0; column < columns.length; column++) {
                    row.setField(column, value(types[column], cells[column]));
                }
                rows.add(row);
            }
        }
    }

    private static Object value(String type, String cell) {
        if (cell.isEmpty()) {
            return null;
        }
        return switch (type) {
            case "long" -> (Object) Long.valueOf(cell);
            case "double" -> (Object) Double.valueOf(cell);
            case "time" -> time(Long.parseLong(cell));
            default -> cell.intern();
        };
    }

    private static LocalDateTime time(long milliseconds) {
        return LocalDateTime.ofEpochSecond(
                Math.floorDiv(milliseconds, 1000L), (int) Math.floorMod(milliseconds, 1000L) * 1_000_000,
                ZoneOffset.UTC);
    }

    private static double[] run(String mode, int parallelism, List<String> statements, boolean writes)
            throws Exception {
        boolean streams = mode.equals("streaming");
        NEXT.set(0);
        BEGUN.set(0);
        FOUND.set(0);
        SUM.set(0);
        WRITTEN.clear();
        Configuration configuration = new Configuration();
        // What sorts in memory may take; by default 128 MB.
        configuration.setString("taskmanager.memory.managed.size", writes ? "64m" : "1g");
        configuration.setString("pipeline.object-reuse", "true");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, configuration);
        environment.setRuntimeMode(streams ? RuntimeExecutionMode.STREAMING : RuntimeExecutionMode.BATCH);
        EnvironmentSettings.Builder settings = EnvironmentSettings.newInstance();
        StreamTableEnvironment tables = StreamTableEnvironment.create(
                environment, (streams ? settings.inStreamingMode() : settings.inBatchMode()).build());
        TypeInformation<?>[] kinds = new TypeInformation<?>[types.length];
        Schema.Builder schema = Schema.newBuilder();
        for (int column = 0; column < types.length; column++) {
            switch (types[column]) {
                case "long" -> {
                    kinds[column] = Types.LONG;
                    schema.column(names[column], DataTypes.BIGINT());
                }
                case "double" -> {
                    kinds[column] = Types.DOUBLE;
                    schema.column(names[column], DataTypes.DOUBLE());
                }
                case "time" -> {
                    kinds[column] = Types.LOCAL_DATE_TIME;
                    schema.column(names[column], DataTypes.TIMESTAMP(3));
                    schema.watermark(names[column], names[column]);
                }
                default -> {
                    kinds[column] = Types.STRING;
                    schema.column(names[column], DataTypes.STRING());
                }
            }
        }
        tables.createTemporaryView(
                "trades",
                environment
                        .fromSequence(0, rows.size() - 1)
                        .map(FlinkSqlDriver::next)
                        .returns(Types.ROW_NAMED(names, kinds)),
                schema.build());
        int planned = 0;
        for (int number = 0; number < statements.size(); number++) {
            String name = writes ? "row\t" + number : null;
            try {
                tables.toDataStream(tables.sqlQuery(statements.get(number)))
                        .map(row -> counted(row, name))
                        .returns(Types.LONG)
                        .sinkTo(new DiscardingSink<>());
                planned++;
            } catch (Exception | Error error) {
                if (!writes) {
                    throw error;
                }
                WRITTEN.add("refused " + number + " " + reason(error));
            }
        }
        if (planned == 0) {
            return new double[] {0, 0};
        }
        environment.execute();
        return new double[] {(System.nanoTime() - BEGUN.get()) / 1e9, (used() - USED.get()) / 1e9};
    }

    /** The next row of all, whichever task asks: so the tasks ascend by time and stay close together. */
    private static Row next(long ignored) {
        if (BEGUN.get() == 0 && BEGUN.compareAndSet(0, System.nanoTime())) {
            USED.set(used());
        }
        return rows.get(NEXT.getAndIncrement());
    }

    /** Nanoseconds of the processor that this process has taken. */
    private static long used() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Adds a row to what is counted, and writes it behind a name if there is one. */
    private static long counted(Row row, String name) {
        long sum = 0;
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < row.getArity(); column++) {
            Object value = row.getField(column);
            long number = NULL;
            if (value instanceof LocalDateTime moment) {
                number = moment.toInstant(ZoneOffset.UTC).toEpochMilli();
            } else if (value instanceof Double real) {
                number = Double.doubleToLongBits(real);
            } else if (value instanceof Number whole) {
                number = whole.longValue();
            }
            sum += number * (2L * column + 1);
            if (name != null) {
                text.append('\t').append(value instanceof LocalDateTime ? (Object) number : value);
            }
        }
        if (name != null) {
            WRITTEN.add(name + text);
        }
        FOUND.incrementAndGet();
        SUM.addAndGet(sum);
        return sum;
    }
}
