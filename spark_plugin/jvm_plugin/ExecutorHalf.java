package org.cergpu.spark;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.Utils;

/** The executor's half: the version check, then the metrics. */
final class ExecutorHalf implements ExecutorPlugin {
  private static final String ASK = "from importlib.metadata import version; print(version('cer-gpu'))";
  private static final long PATIENCE_SECONDS = 120;

  private WorkerReports reports;

  /** Throws where the versions differ: Spark then ends this executor and tells the driver the message. */
  @Override
  public void init(PluginContext context, Map<String, String> told) {
    String wanted = told.get(VersionTeller.VERSION);
    if (!wanted.isEmpty()) {
      String trouble = compare(wanted, told.get(VersionTeller.PYTHON));
      if (trouble != null) {
        // An executor's context has no host name: its RPC environment has no address.
        String host = Utils.localHostName();
        String message = "cer-gpu: executor " + context.executorID() + " on " + host + " " + trouble;
        tell(context, message);
        throw new IllegalStateException(message);
      }
    }
    // Spark gives these folders, which are this executor's own, to its Python workers.
    File folder = SparkEnv.get().blockManager().diskBlockManager().localDirs()[0];
    reports = new WorkerReports(context.metricRegistry(), folder);
    reports.start();
  }

  @Override
  public void shutdown() {
    if (reports != null) {
      reports.close();
    }
  }

  /** What is wrong with this executor's Python package, or null. */
  private static String compare(String wanted, String python) {
    String remedy = "; the driver has " + wanted + ": install cer-gpu==" + wanted + " for it";
    try {
      Process asked = new ProcessBuilder(python, "-c", ASK).redirectErrorStream(true).start();
      asked.getOutputStream().close();
      if (!asked.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        asked.destroyForcibly();
        return "got no answer from " + python + " in " + PATIENCE_SECONDS + " seconds" + remedy;
      }
      String text = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      String last = text.substring(text.lastIndexOf('\n') + 1);
      if (asked.exitValue() != 0) {
        return "has no cer-gpu in " + python + " (" + last + ")" + remedy;
      }
      return last.equals(wanted) ? null : "has cer-gpu " + last + " in " + python + remedy;
    } catch (IOException error) {
      return "cannot run " + python + " (" + error.getMessage() + ")" + remedy;
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      return "was interrupted while it asked " + python + remedy;
    }
  }

  /** So that the driver's log has the message also where the executor's is out of reach. */
  private static void tell(PluginContext context, String message) {
    try {
      context.ask(message);
    } catch (Exception error) {
      // The exception that follows says the same.
      return;
    }
  }
}
