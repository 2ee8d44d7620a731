package module

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/interop/rebloom"
)

// A fakeModule is NOT the RedisBloom module, which is not in Debian, but a server that
// speaks the few commands of it that this package uses, with exact sets in place of
// filters. It answers as the module's documentation says, in RESP2, or in RESP3 to
// clients that ask for it. Of a filter that was recorded with the real module, see
// recording_test.go, it plays the answers that were recorded.
type fakeModule struct {
	mu      sync.Mutex
	filters map[string]*fakeFilter
	last    []string          // the last command
	replies map[string]string // in place of its own, by command
}

type fakeFilter struct {
	other      bool // a key of another type
	capacity   int
	nonScaling bool
	items      map[string]bool
	chunks     []chunk // of BF.SCANDUMP
	expires    bool
	recorded   *recording
}

// A chunk is a reply of BF.SCANDUMP.
type chunk struct {
	Iterator int64
	Data     []byte
}

// reserved makes what BF.RESERVE does.
func reserved(args []string) *fakeFilter {
	f := &fakeFilter{items: make(map[string]bool)}
	p, _ := strconv.ParseFloat(args[2], 64)
	f.capacity, _ = strconv.Atoi(args[3])
	expansion := 2
	switch args[4] {
	case "NONSCALING":
		f.nonScaling = true
		expansion = 0
	case "EXPANSION":
		expansion, _ = strconv.Atoi(args[5])
	}
	same, err := rebloom.New(rebloom.Plan{N: uint64(f.capacity), P: p, Expansion: uint32(expansion)})
	if err != nil {
		panic(err)
	}
	for iterator, data := range same.Chunks() {
		f.chunks = append(f.chunks, chunk{iterator, bytes.Clone(data)})
	}
	return f
}

// has answers BF.MEXISTS.
func (f *fakeFilter) has(item string) bool {
	switch {
	case f == nil || f.other:
		return false
	case f.recorded != nil:
		return f.recorded.has(item)
	}
	return f.items[item]
}

const wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"

// scan answers BF.SCANDUMP.
func (f *fakeFilter) scan(iterator string) string {
	next := 0
	for i, c := range f.chunks {
		if fmt.Sprint(c.Iterator) == iterator {
			next = i + 1
		}
	}
	if next == len(f.chunks) {
		return "*2\r\n:0\r\n$0\r\n\r\n"
	}
	c := f.chunks[next]
	return fmt.Sprintf("*2\r\n:%d\r\n$%d\r\n%s\r\n", c.Iterator, len(c.Data), c.Data)
}

func startFakeModule(t *testing.T) (*fakeModule, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fakeModule{filters: make(map[string]*fakeFilter)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return f, l.Addr().String()
}

func (f *fakeModule) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	resp3 := false
	var queue [][]string // of a transaction
	refused := false
	for {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		reply, command := "", strings.ToUpper(args[0])
		f.mu.Lock()
		switch {
		case command == "MULTI":
			queue, refused, reply = [][]string{}, false, "+OK\r\n"
		case command == "EXEC" && refused:
			queue, reply = nil, "-EXECABORT Transaction discarded because of previous errors.\r\n"
		case command == "EXEC":
			reply = fmt.Sprintf("*%d\r\n", len(queue))
			for _, args := range queue {
				reply += f.execute(args, &resp3)
			}
			queue = nil
		case queue != nil && strings.HasPrefix(f.replies[command], "-NOPERM"):
			refused, reply = true, f.replies[command]
		case queue != nil:
			queue, reply = append(queue, args), "+QUEUED\r\n"
		default:
			reply = f.execute(args, &resp3)
		}
		f.mu.Unlock()
		if _, err := io.WriteString(c, reply); err != nil {
			return
		}
	}
}

// readCommand reads an array of bulk strings.
func readCommand(r *bufio.Reader) ([]string, error) {
	var n, size int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

func (f *fakeModule) execute(args []string, resp3 *bool) string {
	command := strings.ToUpper(args[0])
	if strings.HasPrefix(command, "BF.") {
		f.last = args
	}
	boolean := func(yes bool) string {
		switch {
		case *resp3 && yes:
			return "#t\r\n"
		case *resp3:
			return "#f\r\n"
		case yes:
			return ":1\r\n"
		}
		return ":0\r\n"
	}
	if reply, ok := f.replies[command]; ok {
		return reply
	}
	switch command {
	case "HELLO":
		*resp3 = len(args) > 1 && args[1] == "3"
		if !*resp3 {
			return "*2\r\n$5\r\nproto\r\n:2\r\n"
		}
		return "%1\r\n$5\r\nproto\r\n:3\r\n"
	case "CLIENT":
		return "+OK\r\n"
	case "BF.RESERVE":
		switch filter := f.filters[args[1]]; {
		case filter != nil && filter.other:
			return wrongType
		case filter != nil:
			return "-ERR item exists\r\n"
		}
		f.filters[args[1]] = reserved(args)
		return "+OK\r\n"
	case "PEXPIRE":
		if filter := f.filters[args[1]]; filter != nil {
			filter.expires = true
		}
		return ":1\r\n"
	case "PERSIST":
		if filter := f.filters[args[1]]; filter != nil {
			filter.expires = false
		}
		return ":1\r\n"
	case "RENAMENX":
		switch {
		case f.filters[args[1]] == nil:
			return "-ERR no such key\r\n"
		case f.filters[args[2]] != nil:
			return ":0\r\n"
		}
		f.filters[args[2]] = f.filters[args[1]]
		delete(f.filters, args[1])
		return ":1\r\n"
	case "UNLINK":
		delete(f.filters, args[1])
		return ":1\r\n"
	case "BF.LOADCHUNK":
		filter := f.filters[args[1]]
		switch {
		case filter == nil && args[2] == "1":
			filter = new(fakeFilter)
			f.filters[args[1]] = filter
		case filter == nil:
			return "-ERR not found\r\n"
		case filter.other:
			return wrongType
		}
		iterator, _ := strconv.ParseInt(args[2], 10, 64)
		filter.chunks = append(filter.chunks, chunk{Iterator: iterator, Data: []byte(args[3])})
		return "+OK\r\n"
	case "BF.SCANDUMP", "BF.INFO", "BF.INSERT":
		switch filter := f.filters[args[1]]; {
		case filter == nil:
			return "-ERR not found\r\n"
		case filter.other:
			return wrongType
		case command == "BF.SCANDUMP":
			return filter.scan(args[2])
		}
	}
	switch command {
	case "BF.INFO":
		kind := "*4"
		if *resp3 {
			kind = "%2"
		}
		return fmt.Sprintf("%s\r\n+Capacity\r\n:1\r\n+%s\r\n:%d\r\n", kind, itemsName, f.filters[args[1]].info())
	case "BF.INSERT":
		filter := f.filters[args[1]]
		if args[2] != "NOCREATE" || args[3] != "ITEMS" {
			return "-ERR syntax\r\n"
		}
		var answers []string
		for _, item := range args[4:] {
			if filter.nonScaling && len(filter.items) == filter.capacity && !filter.items[item] {
				answers = append(answers, "-ERR non scaling filter is full\r\n")
				break
			}
			answers = append(answers, boolean(!filter.items[item]))
			filter.items[item] = true
		}
		return fmt.Sprintf("*%d\r\n%s", len(answers), strings.Join(answers, ""))
	case "BF.MEXISTS":
		var answers []string
		for _, item := range args[2:] {
			answers = append(answers, boolean(f.filters[args[1]].has(item)))
		}
		return fmt.Sprintf("*%d\r\n%s", len(answers), strings.Join(answers, ""))
	}
	return fmt.Sprintf("-ERR unknown command '%s'\r\n", args[0])
}

// client returns a client of a server at addr that speaks RESP2 or 3.
func protocolClient(t *testing.T, addr string, protocol int) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: protocol, DisableIdentity: true})
	t.Cleanup(func() { c.Close() })
	return c
}

// itemsName is that of the only number of BF.INFO that the package reads.
const itemsName = "Number of items inserted"

// info returns the number that the real module answered, or what the stand-in knows.
func (f *fakeFilter) info() int {
	if f.recorded == nil {
		return len(f.items)
	}
	_, after, _ := strings.Cut(strings.Trim(f.recorded.Info, "[]"), itemsName+" ")
	text, _, _ := strings.Cut(after, " ")
	number, err := strconv.Atoi(text)
	if err != nil {
		panic("not recorded: " + itemsName)
	}
	return number
}
