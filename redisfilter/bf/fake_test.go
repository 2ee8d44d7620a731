package bf

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// A fakeModule is NOT the RedisBloom module, which is not in Debian, but a server that speaks the few commands of it
// that this package uses, with filters of package redisbloom, which equal recorded ones of the module byte for byte. It
// answers in RESP2, or in RESP3 to clients that ask for it.
type fakeModule struct {
	mu      sync.Mutex
	filters map[string]*fakeFilter
	last    []string          // the last command
	replies map[string]string // instead of its own, by command
	caps    bool              // rates, as the module of Redis 8 does
}

// A fakeFilter is a key of another type without a filter and without chunks.
type fakeFilter struct {
	*redisbloom.Filter
	loaded  []chunk // by BF.LOADCHUNK
	expires bool
}

// A chunk is a reply of BF.SCANDUMP.
type chunk struct {
	Iterator int64
	Data     []byte
}

// chunks are what BF.SCANDUMP returns.
func (f *fakeFilter) chunks() (chunks []chunk) {
	for iterator, data := range f.Chunks() {
		chunks = append(chunks, chunk{iterator, bytes.Clone(data)})
	}
	return chunks
}

// restored makes the filter of the chunks that were loaded.
func (f *fakeFilter) restored() *fakeFilter {
	next := 0
	filter, err := redisbloom.FromDump(func(int64) (int64, []byte, error) {
		if next == len(f.loaded) {
			return 0, nil, nil
		}
		next++
		return f.loaded[next-1].Iterator, f.loaded[next-1].Data, nil
	})
	if err != nil {
		panic(err)
	}
	f.Filter = filter
	return f
}

// reserved makes what BF.RESERVE does.
func (f *fakeModule) reserved(args []string) *fakeFilter {
	plan := redisbloom.Plan{Expansion: 2}
	if plan.P, _ = strconv.ParseFloat(args[2], 64); f.caps {
		plan.P = min(plan.P, 0.25)
	}
	plan.N, _ = strconv.ParseUint(args[3], 10, 64)
	switch args[4] {
	case "NONSCALING":
		plan.Expansion = 0
	case "EXPANSION":
		fmt.Sscan(args[5], &plan.Expansion)
	}
	filter, err := redisbloom.New(plan)
	if err != nil {
		panic(err)
	}
	return &fakeFilter{Filter: filter}
}

const wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"

// scan answers BF.SCANDUMP.
func (f *fakeFilter) scan(iterator string) string {
	chunks := f.chunks()
	next := 1 + slices.IndexFunc(chunks, func(c chunk) bool { return fmt.Sprint(c.Iterator) == iterator })
	if next == len(chunks) {
		return "*2\r\n:0\r\n$0\r\n\r\n"
	}
	c := chunks[next]
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
	case "CLIENT", "PING":
		return "+OK\r\n"
	case "BF.RESERVE":
		switch filter := f.filters[args[1]]; {
		case filter != nil && filter.Filter == nil:
			return wrongType
		case filter != nil:
			return "-ERR item exists\r\n"
		}
		f.filters[args[1]] = f.reserved(args)
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
		f.filters[args[2]] = f.filters[args[1]].restored()
		delete(f.filters, args[1])
		return ":1\r\n"
	case "UNLINK", "DEL":
		delete(f.filters, args[1])
		return ":1\r\n"
	case "SET":
		f.filters[args[1]] = new(fakeFilter)
		return "+OK\r\n"
	case "FLUSHALL":
		clear(f.filters)
		return "+OK\r\n"
	case "BF.LOADCHUNK":
		filter := f.filters[args[1]]
		switch {
		case filter == nil && args[2] == "1":
			filter = new(fakeFilter)
			f.filters[args[1]] = filter
		case filter == nil:
			return "-ERR not found\r\n"
		}
		iterator, _ := strconv.ParseInt(args[2], 10, 64)
		filter.loaded = append(filter.loaded, chunk{Iterator: iterator, Data: []byte(args[3])})
		return "+OK\r\n"
	case "BF.SCANDUMP", "BF.INFO", "BF.INSERT":
		filter := f.filters[args[1]]
		switch {
		case filter == nil:
			return "-ERR not found\r\n"
		case filter.Filter == nil:
			return wrongType
		case command == "BF.SCANDUMP":
			return filter.scan(args[2])
		case command == "BF.INFO" && *resp3:
			return fmt.Sprintf("%%1\r\n+Number of items inserted\r\n:%d\r\n", filter.Stats().EstimatedCount)
		case command == "BF.INFO":
			return fmt.Sprintf("*2\r\n+Number of items inserted\r\n:%d\r\n", filter.Stats().EstimatedCount)
		case args[2] != "NOCREATE" || args[3] != "ITEMS":
			return "-ERR syntax\r\n"
		}
		var answers []string
		for _, item := range args[4:] {
			added, err := filter.Add([]byte(item))
			if err != nil {
				answers = append(answers, "-ERR non scaling filter is full\r\n")
				break
			}
			answers = append(answers, boolean(added))
		}
		return fmt.Sprintf("*%d\r\n%s", len(answers), strings.Join(answers, ""))
	case "BF.MEXISTS":
		filter := f.filters[args[1]]
		reply := fmt.Sprintf("*%d\r\n", len(args)-2)
		for _, item := range args[2:] {
			reply += boolean(filter != nil && filter.Filter != nil && filter.Contains([]byte(item)))
		}
		return reply
	}
	return fmt.Sprintf("-ERR unknown command '%s'\r\n", args[0])
}

// client returns a client of a server at addr that speaks RESP2 or 3.
func protocolClient(t *testing.T, addr string, protocol int) *redis.Client {
	t.Helper()
	return redistest.Connect(t, &redis.Options{Addr: addr, Protocol: protocol, DisableIdentity: true})
}
