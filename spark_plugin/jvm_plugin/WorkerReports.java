package org.cergpu.spark;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Meter;
import com.codahale.metrics.MetricRegistry;
import java.io.File;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the Python workers of this executor report when a task ends, as metrics.
 *
 * <p>A report is one datagram on the loopback interface: {@code TOKEN EVENTS HITS NANOSECONDS DEVICE}. The file
 * {@code cer-gpu-metrics} in the executor's local folder holds the port and the token; only its owner reads it.
 */
final class WorkerReports implements AutoCloseable {
  static final String FILE = "cer-gpu-metrics";

  private static final Logger LOG = LoggerFactory.getLogger(CerPlugin.class);
  private static final int LONGEST = 512;

  private final String token = UUID.randomUUID().toString();
  private final AtomicLong busyNanoseconds = new AtomicLong();
  private final Meter events;
  private final Counter hits;
  private final Counter tasks;
  private final Path file;
  private volatile String device = "";
  private DatagramSocket socket;

  WorkerReports(MetricRegistry registry, File folder) {
    file = folder.toPath().resolve(FILE);
    events = registry.meter("events");
    hits = registry.counter("hits");
    tasks = registry.counter("tasks");
    registry.register("eventsPerBusySecond", (Gauge<Double>) this::rate);
    registry.register("device", (Gauge<String>) () -> device);
  }

  /** Opens the port and writes the file. Metrics are an extra: a failure is logged, and tasks run without. */
  void start() {
    try {
      socket = new DatagramSocket(0, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
      Thread reader = new Thread(this::read, "cer-gpu-metrics");
      reader.setDaemon(true);
      reader.start();
      // Made anew for its owner alone before the token is in it: another user could report in a task's name.
      Files.deleteIfExists(file);
      Files.createFile(file, ownersAlone());
      Files.writeString(file, socket.getLocalPort() + " " + token);
    } catch (IOException error) {
      LOG.warn("cer-gpu publishes no metrics: {}", error.toString());
    }
  }

  private static FileAttribute<?>[] ownersAlone() {
    if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    };
  }

  @Override
  public void close() {
    if (socket != null) {
      socket.close();
    }
    try {
      Files.deleteIfExists(file);
    } catch (IOException error) {
      LOG.debug("{} stays: {}", file, error.toString());
    }
  }

  private void read() {
    DatagramPacket packet = new DatagramPacket(new byte[LONGEST], LONGEST);
    while (!socket.isClosed()) {
      try {
        packet.setLength(LONGEST);
        socket.receive(packet);
        take(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8).split(" ", 5));
      } catch (IOException | NumberFormatException error) {
        LOG.debug("a report was lost: {}", error.toString());
      }
    }
  }

  private void take(String[] parts) {
    if (parts.length != 5 || !parts[0].equals(token)) {
      return;
    }
    events.mark(Long.parseLong(parts[1]));
    hits.inc(Long.parseLong(parts[2]));
    busyNanoseconds.addAndGet(Long.parseLong(parts[3]));
    device = parts[4];
    tasks.inc();
  }

  private double rate() {
    long busy = busyNanoseconds.get();
    return busy == 0 ? 0.0 : events.getCount() * 1e9 / busy;
  }
}
