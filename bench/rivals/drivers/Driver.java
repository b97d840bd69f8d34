import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads events from a CSV file, then a question a line; answers each with its number and its seconds. */
final class Driver {
    /** One question, over events in the order of time: how many matches, and how long that took. */
    interface Asked {
        double[] count(List<Event> events, String question) throws Exception;
    }

    private Driver() {}

    static void run(String path, Asked asked) throws Exception {
        // Whoever stops the process that asks stops this one, too.
        ProcessHandle.current().parent().ifPresent(one -> one.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
        List<Event> events = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(Path.of(path))) {
            lines.readLine();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] cells = line.split(",");
                double price = cells.length < 4 || cells[3].isEmpty() ? Double.NaN : Double.parseDouble(cells[3]);
                events.add(new Event(Long.parseLong(cells[0]), cells[1].intern(), Long.parseLong(cells[2]), price));
            }
        }
        System.out.println("ready");
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            double[] answer = asked.count(events, line);
            System.out.println("answer " + (long) answer[0] + " " + answer[1]);
        }
        System.exit(0);
    }
}
