package rotating

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestBatches(t *testing.T) {
	var c clock
	one := must(300, 0.01, time.Hour, 3, c.option())
	many := must(300, 0.01, time.Hour, 3, c.option())
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		c.sleep(time.Duration(random.Int64N(int64(20 * time.Minute))))
		keys, texts := [][]byte{}, []string{}
		for range random.IntN(200) {
			var b [16]byte
			k := key(&b, random.Uint64N(3000))
			keys, texts = append(keys, k), append(texts, string(k))
		}
		want, got, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			if want[i] = one.Add(k); want[i] {
				count++
			}
		}
		half := len(keys) / 2
		n := many.AddMany(keys[:half], got[:half]) + many.AddStrings(texts[half:], got[half:])
		for i := range keys {
			if got[i] != want[i] || n != count {
				t.Fatalf("AddMany: key %d of %d: %v, want %v; %d new, want %d", i, len(keys), got[i], want[i], n, count)
			}
		}
		count = 0
		for i := range keys {
			keys[i][0]++
			texts[i] = string(keys[i])
			if want[i] = one.Contains(keys[i]); want[i] {
				count++
			}
		}
		n = many.ContainsMany(keys[:half], got[:half]) + many.ContainsStrings(texts[half:], got[half:])
		for i := range keys {
			if got[i] != want[i] || n != count {
				t.Fatalf("ContainsMany: key %d of %d: %v, want %v; %d found, want %d", i, len(keys), got[i], want[i], n, count)
			}
		}
	}
}
