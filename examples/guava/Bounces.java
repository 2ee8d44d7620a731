import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.*;

public class Bounces {
  public static void main(String[] args) throws IOException {
    if (args[0].equals("publish")) {
      BloomFilter<CharSequence> bounced = BloomFilter.create(Funnels.stringFunnel(UTF_8), 1_000_000, 0.001);
      bounced.put("old@example.com");
      bounced.put("jürgen@example.com");
      try (OutputStream out = new BufferedOutputStream(new FileOutputStream("bounced.bloom"))) {
        bounced.writeTo(out);
      }
    } else {
      try (InputStream in = new BufferedInputStream(new FileInputStream("bounced.bloom"))) {
        BloomFilter<CharSequence> bounced = BloomFilter.readFrom(in, Funnels.stringFunnel(UTF_8));
        System.out.println(bounced.mightContain("old@example.com"));
        System.out.println(bounced.mightContain("new@example.com"));
      }
    }
  }
}
