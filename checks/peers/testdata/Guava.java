import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Measures Guava's BloomFilter with the keys of bench_test.go, and prints lines as go test -bench does:
 *
 *   java -cp /usr/share/java/guava.jar:/usr/share/java/failureaccess.jar testdata/Guava.java
 */
public final class Guava {
  static final byte[] PREFIX = "https://www.example.com/articles/2026/".substring(0, 32).getBytes(StandardCharsets.US_ASCII);
  static final String[] OPS = {"add", "again", "hit", "miss", "mixed"};
  static final int CHUNK = 8192, COUNT = 100_000;
  static final byte[][] keys = new byte[CHUNK][];
  static BloomFilter<byte[]> filter;
  static long filterN, salt;

  public static void main(String[] args) {
    for (int i = 0; i < CHUNK; i++) keys[i] = Arrays.copyOf(PREFIX, 40);
    for (int i = 0; i < 30; i++) { // until the JVM has compiled everything
      for (String op : OPS) measure(op, 10_000, 0.01, COUNT);
    }
    for (String op : OPS) {
      double nanos = measure(op, 10_000, 0.01, COUNT);
      System.out.printf(Locale.ROOT, "BenchmarkFilter/filter=Guava-(JVM)/op=%s/goroutines=1 %d %.2f ns/op%n", op, COUNT, nanos / COUNT);
    }
  }

  static long measure(String op, long n, double p, long count) {
    boolean add = op.equals("add");
    if (add || filter == null || filterN != n) {
      filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
      filterN = n;
      for (long i = 0; i < n && !add; i++) {
        write(keys[0], i);
        filter.put(keys[0]);
      }
    }
    long nanos = 0;
    for (long done = 0, left = n; done < count; ) {
      int size = (int) Math.min(CHUNK, count - done);
      if (add) {
        if (left == 0) {
          filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
          left = n;
        }
        size = (int) Math.min(size, left);
        left -= size;
      }
      salt += CHUNK;
      for (int i = 0; i < size; i++) {
        long random = mix(salt + i);
        boolean absent = add || op.equals("miss") || op.equals("mixed") && (random & 1) == 0;
        write(keys[i], absent ? Long.MIN_VALUE + salt + i : (random >>> 1) % n);
      }
      long start = System.nanoTime();
      sum += add || op.equals("again") ? put(size) : mightContain(size);
      nanos += System.nanoTime() - start;
      done += size;
    }
    if (add) filter = null;
    return nanos;
  }

  static long sum;

  static long put(int size) {
    long added = 0;
    for (int i = 0; i < size; i++) if (filter.put(keys[i])) added++;
    return added;
  }

  static long mightContain(int size) {
    long found = 0;
    for (int i = 0; i < size; i++) if (filter.mightContain(keys[i])) found++;
    return found;
  }

  static void write(byte[] key, long number) {
    long x = mix(number);
    for (int i = 0; i < 8; i++) key[32 + i] = (byte) (x >>> (8 * i));
  }

  static long mix(long x) {
    x += 0x9e3779b97f4a7c15L;
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ x >>> 31;
  }
}
