package redisbloom

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A fakeModule is a server that speaks the few commands of the RedisBloom module
// that Module uses, with exact sets in place of filters: the module itself is not
// in Debian. It answers as the module's documentation says, in RESP2, or in RESP3 to
// clients that ask for it.
type fakeModule struct {
	mu      sync.Mutex
	filters map[string]*fakeFilter
	expiry  string
	last    []string          // the last command
	replies map[string]string // in place of its own, by command
}

type fakeFilter struct {
	capacity   int
	nonScaling bool
	items      map[string]bool
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

// A fakeSession is what the server knows of a connection.
type fakeSession struct {
	resp3   bool
	watched map[string]*fakeFilter // and what was there
	multi   bool
	queue   [][]string
}

// transact executes a command, or keeps it for the transaction that it belongs to.
func (f *fakeModule) transact(args []string, s *fakeSession) string {
	switch command := strings.ToUpper(args[0]); {
	case command == "WATCH":
		s.watched = make(map[string]*fakeFilter)
		for _, key := range args[1:] {
			s.watched[key] = f.filters[key]
		}
		return "+OK\r\n"
	case command == "UNWATCH":
		s.watched = nil
		return "+OK\r\n"
	case command == "MULTI":
		s.multi, s.queue = true, nil
		return "+OK\r\n"
	case command == "EXEC":
		watched := s.watched
		s.watched, s.multi = nil, false
		for key, before := range watched {
			if f.filters[key] != before {
				return "*-1\r\n"
			}
		}
		reply := fmt.Sprintf("*%d\r\n", len(s.queue))
		for _, args := range s.queue {
			reply += f.execute(args, &s.resp3)
		}
		return reply
	case s.multi:
		s.queue = append(s.queue, args)
		return "+QUEUED\r\n"
	}
	return f.execute(args, &s.resp3)
}

func (f *fakeModule) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	var s fakeSession
	for {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		f.mu.Lock()
		reply := f.transact(args, &s)
		f.mu.Unlock()
		if _, err := io.WriteString(c, reply); err != nil {
			return
		}
	}
}

// readCommand reads an array of bulk strings.
func readCommand(r *bufio.Reader) ([]string, error) {
	length := func(kind byte) (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if line[0] != kind {
			return 0, fmt.Errorf("line %q, want one that begins with %c", line, kind)
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := length('*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := length('$')
		if err != nil {
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
		if f.filters[args[1]] != nil {
			return "-ERR item exists\r\n"
		}
		capacity, _ := strconv.Atoi(args[3])
		f.expiry = ""
		f.filters[args[1]] = &fakeFilter{capacity: capacity, nonScaling: args[len(args)-1] == "NONSCALING", items: make(map[string]bool)}
		return "+OK\r\n"
	case "EXISTS":
		if f.filters[args[1]] != nil {
			return ":1\r\n"
		}
		return ":0\r\n"
	case "PEXPIRE":
		f.expiry = args[2]
		return ":1\r\n"
	case "BF.INFO":
		capacity := f.filters[args[1]].capacity
		if *resp3 {
			return fmt.Sprintf("%%2\r\n$8\r\nCapacity\r\n:%d\r\n$17\r\nNumber of filters\r\n:1\r\n", capacity)
		}
		return fmt.Sprintf("*4\r\n+Capacity\r\n:%d\r\n+Number of filters\r\n:1\r\n", capacity)
	case "BF.INSERT":
		filter := f.filters[args[1]]
		if filter == nil {
			return "-ERR not found\r\n"
		}
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
			filter := f.filters[args[1]]
			answers = append(answers, boolean(filter != nil && filter.items[item]))
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
