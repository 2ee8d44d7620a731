import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import java.util.function.LongUnaryOperator;

/**
 * Measures Guava's BloomFilter as the Go program beside it measures the others; see measure.go and
 * keys.go there for the reasons. A line of standard input is a job, one of standard output its
 * outcome.
 */
public final class Guava {
  static final byte[] PREFIX = "https://www.example.com/".getBytes(StandardCharsets.US_ASCII);
  static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  static final int CHUNK = 8192, FILL_SHIFT = 36, OPS = 5;
  static final byte[][] keys = new byte[CHUNK][];
  static double[][] steps;

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < CHUNK; i++) keys[i] = Arrays.copyOf(PREFIX, PREFIX.length + 16);
    // The JVM compiles what has run often enough; until then it would be measured interpreting.
    for (int i = 0; i < 10; i++) job(10_000, 0.01, i, 10, 1 << 16, 1 << 16);
    Properties properties = new Properties();
    try (InputStream pom =
        BloomFilter.class.getResourceAsStream("/META-INF/maven/com.google.guava/guava/pom.properties")) {
      if (pom != null) properties.load(pom);
    }
    System.out.println(properties.getProperty("version", "unknown") + ", Java " + System.getProperty("java.version"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      String[] f = line.trim().split(" ");
      System.out.println(
          job(Long.parseLong(f[0]), Double.parseDouble(f[1]), Integer.parseInt(f[2]),
              Integer.parseInt(f[3]), Long.parseLong(f[4]), Long.parseLong(f[5])));
    }
  }

  static String job(long n, double p, int round, int fills, long probes, long misses) {
    steps = new double[OPS][0];
    long yes = 0, each = Math.max(probes / fills, 1), eachMiss = Math.max(misses / fills, 1);
    for (int i = 0; i < fills; i++) {
      long base = (long) (round * fills + i) << FILL_SHIFT;
      LongUnaryOperator there = x -> base + high(mix(~(base + x)), n);
      BloomFilter<byte[]> filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
      run(filter, n, x -> base + x, 0, true);
      run(filter, each, there, 1, true);
      if (run(filter, each, x -> there.applyAsLong(x | 1L << 34), 2, false) != each) {
        throw new IllegalStateException("keys that were added are not there");
      }
      yes += run(filter, eachMiss, x -> base + x | 1L << 63, 3, false);
      run(filter, each, x -> mix(base + x) < 0 ? base + x | 1L << 63 : there.applyAsLong(x), 4, false);
    }
    // The size that Guava chooses, rounded up to longs; no public method tells it.
    long bits = ((long) (-n * Math.log(p) / (Math.log(2) * Math.log(2))) + 63) / 64 * 64;
    StringBuilder out = new StringBuilder(bits + " " + yes + " " + eachMiss * fills);
    for (double[] of : steps) {
      Arrays.sort(of);
      out.append(' ').append(Arrays.stream(of, of.length / 4, of.length - of.length / 4).average().orElse(Double.NaN));
    }
    return out.toString();
  }

  /** Times an operation on total keys, making them left out. Returns how many were true. */
  static long run(BloomFilter<byte[]> filter, long total, LongUnaryOperator number, int op, boolean add) {
    long trues = 0, count = (total - 1) / CHUNK + 1;
    int done = steps[op].length;
    steps[op] = Arrays.copyOf(steps[op], done + (int) count);
    for (long i = 0; i < count; i++) {
      long from = total * i / count;
      int size = (int) (total * (i + 1) / count - from);
      for (int j = 0; j < size; j++) write(keys[j], number.applyAsLong(from + j));
      long start = System.nanoTime();
      trues += add ? addAll(filter, size) : containsAll(filter, size);
      steps[op][done++] = (double) (System.nanoTime() - start) / size;
    }
    return trues;
  }

  static long addAll(BloomFilter<byte[]> filter, int size) {
    long added = 0;
    for (int i = 0; i < size; i++) if (filter.put(keys[i])) added++;
    return added;
  }

  static long containsAll(BloomFilter<byte[]> filter, int size) {
    long found = 0;
    for (int i = 0; i < size; i++) if (filter.mightContain(keys[i])) found++;
    return found;
  }

  static void write(byte[] key, long number) {
    long x = mix(number);
    for (int j = PREFIX.length; j < key.length; j++) {
      key[j] = HEX[(int) (x >>> 60)];
      x <<= 4;
    }
  }

  /** The high half of the unsigned product. */
  static long high(long x, long n) {
    return Math.multiplyHigh(x, n) + (x >> 63 & n);
  }

  static long mix(long x) {
    x += 0x9e3779b97f4a7c15L;
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ x >>> 31;
  }
}
