import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.primitives.Ints;
import com.google.common.primitives.Longs;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Guava itself, for the Go tests. They write a folder of cases, and this
 * program runs each line of cases.txt with Guava and writes the results. One
 * process serves all tests: each line of its input is a command, and it answers each with a line.
 *
 * <pre>
 *   make DIR    makes the filters: fills, asks, estimates, writes
 *   check DIR   reads the filters that Go has written: asks, writes back, fills on
 *   sizes DIR   computes what n and p of sizes.txt lead to
 * </pre>
 *
 * A list of keys has, for each key, a line of hexadecimal digits, whose bytes decode() turns into what the
 * funnel takes. Answers are a byte for each key, '1' or '0'.
 */
public final class Oracle {
  public static void main(String[] args) throws Exception {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] command = line.split(" ", 2);
      Path dir = Path.of(command[1]);
      switch (command[0]) {
        case "make" -> make(dir);
        case "check" -> check(dir);
        case "sizes" -> sizes(dir);
        default -> throw new IllegalArgumentException(line);
      }
      lists.clear(); // the next command's files have the same names
      System.out.println("Guava " + version() + ", Java " + System.getProperty("java.version"));
    }
  }

  /** A line of cases.txt. */
  record Case(String name, int strategy, long n, double p, String funnel, String keys, String more, String probes) {
    static List<Case> all(Path dir) throws Exception {
      List<Case> list = new ArrayList<>();
      for (String line : Files.readAllLines(dir.resolve("cases.txt"))) {
        String[] f = line.split(" ");
        list.add(new Case(f[0], Integer.parseInt(f[1]), Long.parseLong(f[2]), Double.parseDouble(f[3]), f[4], f[5], f[6], f[7]));
      }
      return list;
    }
  }

  static void make(Path dir) throws Exception {
    for (Case c : Case.all(dir)) {
      BloomFilter<Object> filter = create(c);
      add(dir, c, c.keys, filter, "added");
      ask(dir, c, filter, "answers");
      Files.writeString(dir.resolve(c.name + ".estimate"), count(filter));
      write(filter, dir.resolve(c.name + ".java"));
    }
  }

  static String count(BloomFilter<Object> filter) throws Exception {
    try {
      return BloomFilter.class.getMethod("approximateElementCount").invoke(filter).toString();
    } catch (NoSuchMethodException e) { // until Guava 21
      return "unknown";
    } catch (InvocationTargetException e) { // every bit is set
      return "full";
    }
  }

  static void check(Path dir) throws Exception {
    for (Case c : Case.all(dir)) {
      BloomFilter<Object> filter = read(c, dir.resolve(c.name + ".go"));
      if (c.strategy == 1 && !c.name.startsWith("large") && !filter.isCompatible(create(c))) {
        throw new IllegalStateException(c.name + " is not compatible with Guava's own");
      }
      ask(dir, c, filter, "answers");
      write(filter, dir.resolve(c.name + ".back"));
      add(dir, c, c.more, filter, "added");
      write(filter, dir.resolve(c.name + ".more"));
    }
  }

  /**
   * Guava's formulas are not public. A line of sizes.txt has n, and p as the bits of a double; the
   * answer is the number of bits before rounding, k, and whether create() takes them ("-" for
   * filters too large to try).
   */
  static void sizes(Path dir) throws Exception {
    Method bits = BloomFilter.class.getDeclaredMethod("optimalNumOfBits", long.class, double.class);
    bits.setAccessible(true);
    Method old = null, current = null;
    try {
      old = BloomFilter.class.getDeclaredMethod("optimalNumOfHashFunctions", long.class, long.class);
      old.setAccessible(true);
    } catch (NoSuchMethodException e) { // since 33.4
      current = BloomFilter.class.getDeclaredMethod("optimalNumOfHashFunctions", double.class);
      current.setAccessible(true);
    }
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(dir.resolve("sizes.java")))) {
      out.println(old != null ? "old" : "current");
      for (String line : Files.readAllLines(dir.resolve("sizes.txt"))) {
        String[] f = line.split(" ");
        long n = Long.parseLong(f[0]);
        double p = Double.longBitsToDouble(Long.parseUnsignedLong(f[1], 16));
        long m = (long) bits.invoke(null, Math.max(n, 1), p);
        int k = (int) (old != null ? old.invoke(null, Math.max(n, 1), m) : current.invoke(null, p));
        String made = "-";
        if (m < 1 << 20 || m / 64 > Integer.MAX_VALUE) {
          try {
            BloomFilter<byte[]> filter = create(Funnels.byteArrayFunnel(), n, p);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            filter.writeTo(bytes);
            made = (bytes.size() - 6) / 8 + "," + (bytes.toByteArray()[1] & 255);
          } catch (ArithmeticException e) { // n is no int
            made = "-";
          } catch (InvocationTargetException e) {
            made = "error";
          }
        }
        out.println(m + " " + k + " " + made);
      }
    }
  }

  /** The public create. Until Guava 18 its n is an int. */
  @SuppressWarnings("unchecked")
  static <T> BloomFilter<T> create(Funnel<? super T> funnel, long n, double p) throws Exception {
    try {
      return (BloomFilter<T>)
          BloomFilter.class.getMethod("create", Funnel.class, long.class, double.class).invoke(null, funnel, n, p);
    } catch (NoSuchMethodException e) {
      return (BloomFilter<T>)
          BloomFilter.class
              .getMethod("create", Funnel.class, int.class, double.class)
              .invoke(null, funnel, Math.toIntExact(n), p);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  /** Since Guava 17 only tests can make a filter with another strategy than MURMUR128_MITZ_64. */
  @SuppressWarnings("unchecked")
  static BloomFilter<Object> create(Case c) throws Exception {
    if (c.strategy == 1) {
      return create(funnel(c.funnel), c.n, c.p);
    }
    Class<?> strategy = Class.forName("com.google.common.hash.BloomFilter$Strategy");
    Class<?> strategies = Class.forName("com.google.common.hash.BloomFilterStrategies");
    Object mitz32 = strategies.getEnumConstants()[c.strategy];
    try {
      Method create = BloomFilter.class.getDeclaredMethod("create", Funnel.class, long.class, double.class, strategy);
      create.setAccessible(true);
      return (BloomFilter<Object>) create.invoke(null, funnel(c.funnel), c.n, c.p, mitz32);
    } catch (NoSuchMethodException e) { // until Guava 18
      Method create = BloomFilter.class.getDeclaredMethod("create", Funnel.class, int.class, double.class, strategy);
      create.setAccessible(true);
      return (BloomFilter<Object>) create.invoke(null, funnel(c.funnel), (int) c.n, c.p, mitz32);
    }
  }

  static BloomFilter<Object> read(Case c, Path path) throws Exception {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path))) {
      return BloomFilter.readFrom(in, funnel(c.funnel));
    }
  }

  static void write(BloomFilter<Object> filter, Path path) throws Exception {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      filter.writeTo(out);
    }
  }

  static void add(Path dir, Case c, String keys, BloomFilter<Object> filter, String ending) throws Exception {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(dir.resolve(c.name + "." + ending)))) {
      for (byte[] key : keys(dir, keys)) {
        out.write(filter.put(decode(c.funnel, key)) ? '1' : '0');
      }
    }
  }

  static void ask(Path dir, Case c, BloomFilter<Object> filter, String ending) throws Exception {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(dir.resolve(c.name + "." + ending)))) {
      for (byte[] key : keys(dir, c.probes)) {
        out.write(filter.mightContain(decode(c.funnel, key)) ? '1' : '0');
      }
    }
  }

  static final Map<String, List<byte[]>> lists = new HashMap<>();

  static List<byte[]> keys(Path dir, String name) throws Exception {
    List<byte[]> list = lists.get(name);
    if (list == null) {
      list = Files.readAllLines(dir.resolve(name)).stream().map(HexFormat.of()::parseHex).toList();
      lists.put(name, list);
    }
    return list;
  }

  /** Two fields of a class of one's own. */
  record Line(String text, long number) {}

  @SuppressWarnings("unchecked")
  static Funnel<Object> funnel(String name) {
    Funnel<?> funnel =
        switch (name) {
          case "utf8" -> Funnels.stringFunnel(StandardCharsets.UTF_8);
          case "utf16" -> Funnels.unencodedCharsFunnel();
          case "int" -> Funnels.integerFunnel();
          case "long" -> Funnels.longFunnel();
          case "bytes" -> Funnels.byteArrayFunnel();
          case "longs" -> Funnels.sequentialFunnel(Funnels.longFunnel());
          case "fields" ->
              (Funnel<Line>)
                  (line, into) ->
                      into.putString(line.text, StandardCharsets.UTF_8)
                          .putUnencodedChars(line.text)
                          .putLong(line.number)
                          .putInt((int) line.number)
                          .putShort((short) line.number)
                          .putChar((char) line.number)
                          .putByte((byte) line.number)
                          .putBoolean(line.number % 2 != 0)
                          .putFloat((float) line.number)
                          .putDouble((double) line.number);
          default -> throw new IllegalArgumentException(name);
        };
    return (Funnel<Object>) funnel;
  }

  static Object decode(String funnel, byte[] key) {
    return switch (funnel) {
      case "utf8", "utf16" -> new String(key, StandardCharsets.UTF_8);
      case "int" -> Ints.fromByteArray(key);
      case "long" -> Longs.fromByteArray(key);
      case "bytes" -> key;
      case "longs" -> {
        List<Long> list = new ArrayList<>();
        for (int i = 0; i < key.length; i += 8) {
          list.add(Longs.fromByteArray(Arrays.copyOfRange(key, i, i + 8)));
        }
        yield list;
      }
      case "fields" -> new Line(
          new String(key, 8, key.length - 8, StandardCharsets.UTF_8), Longs.fromByteArray(key));
      default -> throw new IllegalArgumentException(funnel);
    };
  }

  /** The version in the jar. */
  static String version() throws Exception {
    try (InputStream pom =
        BloomFilter.class.getResourceAsStream("/META-INF/maven/com.google.guava/guava/pom.properties")) {
      Properties properties = new Properties();
      if (pom != null) properties.load(pom);
      return properties.getProperty("version", "unknown");
    }
  }
}
