package org.cergpu.spark;

import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver's half: tells executors which cer-gpu they must have, and ends the jobs where one has another. */
final class VersionTeller implements DriverPlugin {
  /** The version that every executor must have; without it, the one that this jar was built with. */
  static final String VERSION = "spark.cer.version";

  /** The Python that the workers run. */
  static final String PYTHON = "python";

  private static final Logger LOG = LoggerFactory.getLogger(CerPlugin.class);

  private SparkContext context;

  @Override
  public Map<String, String> init(SparkContext sparkContext, PluginContext plugin) {
    context = sparkContext;
    String built = CerPlugin.class.getPackage().getImplementationVersion();
    String wanted = context.conf().get(VERSION, built == null ? "" : built);
    return Map.of(VERSION, wanted, PYTHON, workersPython(context.conf()));
  }

  /** Cluster managers start a failed executor again without end: a job would wait for ever. */
  @Override
  public Object receive(Object message) {
    LOG.error("{}", message);
    for (int job : context.statusTracker().getActiveJobIds()) {
      context.cancelJob(job, String.valueOf(message));
    }
    return null;
  }

  /** As pyspark chooses it. */
  private static String workersPython(SparkConf conf) {
    String told = System.getenv().getOrDefault("PYSPARK_PYTHON", "python3");
    return conf.get("spark.pyspark.python", told);
  }
}
