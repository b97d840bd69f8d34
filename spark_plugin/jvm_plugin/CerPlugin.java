package org.cergpu.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Executors fail at once where their cer-gpu is not the driver's, and publish what their tasks did as metrics.
 *
 * <p>Named in {@code spark.plugins}; Spark makes one of each half.
 */
public final class CerPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new VersionTeller();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorHalf();
  }
}
