import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures Guava's BloomFilter as the Go program beside it measures the others; see measure.go,
 * crew.go and keys.go there for the reasons. A line of standard input is a job, a line of standard
 * output its outcome.
 */
public final class Guava {
  static final byte[] PREFIX = "https://www.example.com/".getBytes(StandardCharsets.US_ASCII);
  static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  static final int CHUNK = 8192;
  static final int FILL_SHIFT = 36;
  static final int ADD = 0, DUPLICATE = 1, HIT = 2, MISS = 3;

  public static void main(String[] args) throws Exception {
    int cores = Runtime.getRuntime().availableProcessors();
    // The JVM compiles what has run often enough; until then it would be measured interpreting.
    for (int i = 0; i < 10; i++) {
      job(10_000, 0.01, i, 10, 1 << 16, 1 << 16, cores);
    }
    System.out.println(version() + ", Java " + System.getProperty("java.version"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      String[] f = line.trim().split(" ");
      System.out.println(
          job(
              Long.parseLong(f[0]), Double.parseDouble(f[1]), Integer.parseInt(f[2]),
              Integer.parseInt(f[3]), Long.parseLong(f[4]), Long.parseLong(f[5]),
              Integer.parseInt(f[6])));
    }
  }

  /** The jar says what it was built from. */
  static String version() throws Exception {
    try (InputStream pom =
        BloomFilter.class.getResourceAsStream("/META-INF/maven/com.google.guava/guava/pom.properties")) {
      Properties properties = new Properties();
      if (pom != null) properties.load(pom);
      return properties.getProperty("version", "unknown");
    }
  }

  static String job(
      long n, double p, int round, int fills, long probes, long misses, int workers)
      throws Exception {
    Steps[] one = steps(), all = steps();
    long yes = 0, asked = 0, bits = 0;
    Slab[] single = crew(1), every = crew(workers);
    long probesEach = Math.max(probes / fills, 1), missesEach = Math.max(misses / fills, 1);
    for (int i = 0; i < fills; i++) {
      long base = (long) (round * fills + i) << FILL_SHIFT;
      BloomFilter<byte[]> filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
      run(single, filter, n, base, 0, 0, ADD, one[ADD]);
      for (int which = 0; which < 2; which++) {
        Slab[] crew = which == 0 ? single : every;
        Steps[] steps = which == 0 ? one : all;
        long half = which == 0 ? 0 : 1L << (FILL_SHIFT - 1);
        run(crew, filter, probesEach, base, n, half, ADD, steps[DUPLICATE]);
        run(crew, filter, probesEach, base, n, half | 1L << (FILL_SHIFT - 2), HIT, steps[HIT]);
        if (trues(crew) != probesEach) {
          throw new IllegalStateException("keys that were added are not there");
        }
        run(crew, filter, missesEach, base | 1L << 63 | half, 0, 0, MISS, steps[MISS]);
        yes += trues(crew);
        asked += missesEach;
      }
      bits = bitsOf(n, p);
      filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
      run(every, filter, n, base, 0, 0, ADD, all[ADD]);
    }
    StringBuilder out = new StringBuilder(bits + " " + yes + " " + asked);
    for (int op = 0; op < 4; op++) out.append(' ').append(one[op].midmean());
    for (int op = 0; op < 4; op++) out.append(' ').append(all[op].midmean());
    return out.toString();
  }

  /** The size that Guava chooses, rounded up to longs; no public method tells it. */
  static long bitsOf(long n, double p) {
    long m = (long) (-n * Math.log(p) / (Math.log(2) * Math.log(2)));
    return (m + 63) / 64 * 64;
  }

  /** The nanoseconds per key of each step. */
  static final class Steps {
    double[] values = new double[64];
    int count;

    void add(double x) {
      if (count == values.length) values = Arrays.copyOf(values, 2 * count);
      values[count++] = x;
    }

    double midmean() {
      double[] sorted = Arrays.copyOf(values, count);
      Arrays.sort(sorted);
      return Arrays.stream(sorted, count / 4, count - count / 4).average().orElse(Double.NaN);
    }
  }

  static Steps[] steps() {
    return new Steps[] {new Steps(), new Steps(), new Steps(), new Steps()};
  }

  /** A chunk of keys and who works on it. */
  static final class Slab {
    final byte[][] keys = new byte[CHUNK][];
    int count;
    long trues, start, end;

    Slab() {
      for (int i = 0; i < CHUNK; i++) {
        keys[i] = new byte[PREFIX.length + 16];
        System.arraycopy(PREFIX, 0, keys[i], 0, PREFIX.length);
      }
    }

    /** Keys base, base+1, ... if n is 0, otherwise random ones of the n from base on. */
    void fill(long first, int count, long base, long n, long salt) {
      this.count = count;
      for (int i = 0; i < count; i++) {
        long number = base + first + i;
        if (n > 0) {
          long r = mix(~(number + salt)); // the high half of the unsigned product r * n
          number = base + Math.multiplyHigh(r, n) + (r >> 63 & n);
        }
        long x = mix(number);
        byte[] key = keys[i];
        for (int j = PREFIX.length; j < key.length; j++) {
          key[j] = HEX[(int) (x >>> 60)];
          x <<= 4;
        }
      }
    }

    void work(BloomFilter<byte[]> filter, int op) {
      start = System.nanoTime();
      trues += op == ADD ? addAll(filter, keys, count) : containsAll(filter, keys, count);
      end = System.nanoTime();
    }
  }

  static long addAll(BloomFilter<byte[]> filter, byte[][] keys, int count) {
    long added = 0;
    for (int i = 0; i < count; i++) {
      if (filter.put(keys[i])) added++;
    }
    return added;
  }

  static long containsAll(BloomFilter<byte[]> filter, byte[][] keys, int count) {
    long found = 0;
    for (int i = 0; i < count; i++) {
      if (filter.mightContain(keys[i])) found++;
    }
    return found;
  }

  static Slab[] crew(int workers) {
    Slab[] crew = new Slab[workers];
    for (int i = 0; i < workers; i++) crew[i] = new Slab();
    return crew;
  }

  static long trues(Slab[] crew) {
    long sum = 0;
    for (Slab s : crew) sum += s.trues;
    return sum;
  }

  /** Times the operations, making the keys left out. */
  static void run(
      Slab[] crew, BloomFilter<byte[]> filter, long total, long base, long n, long salt, int op,
      Steps steps)
      throws Exception {
    for (Slab s : crew) s.trues = 0;
    long count = (total - 1) / ((long) crew.length * CHUNK) + 1;
    Gate gate = new Gate(crew.length);
    Thread[] threads = new Thread[crew.length];
    for (int w = 0; w < crew.length; w++) {
      int me = w;
      Runnable work = () -> {
        for (long i = 0; i < count; i++) {
          long from = total * i / count, step = total * (i + 1) / count - from;
          long mine = step * me / crew.length, next = step * (me + 1) / crew.length;
          crew[me].fill(from + mine, (int) (next - mine), base, n, salt);
          gate.await();
          crew[me].work(filter, op);
          gate.await();
          if (me == 0) {
            long first = Long.MAX_VALUE, last = Long.MIN_VALUE;
            for (Slab s : crew) {
              first = Math.min(first, s.start);
              last = Math.max(last, s.end);
            }
            steps.add((double) (last - first) / step);
          }
        }
      };
      if (crew.length == 1) {
        work.run();
        return;
      }
      threads[w] = new Thread(work);
      threads[w].start();
    }
    for (Thread t : threads) t.join();
  }

  /** Holds threads until all have arrived, spinning. */
  static final class Gate {
    final int size;
    final AtomicInteger arrived = new AtomicInteger();
    volatile int turn;

    Gate(int size) {
      this.size = size;
    }

    void await() {
      int now = turn;
      if (arrived.incrementAndGet() == size) {
        arrived.set(0);
        turn = now + 1;
        return;
      }
      while (turn == now) Thread.onSpinWait();
    }
  }

  static long mix(long x) {
    x += 0x9e3779b97f4a7c15L;
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ (x >>> 31);
  }
}
