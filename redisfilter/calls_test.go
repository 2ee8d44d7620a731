package redisfilter_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/bf"
	"github.com/seed3447c163/bloom/redisfilter/bitmap"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// withContext returns the names of the exported functions of a package that have a context.
func withContext(t *testing.T, folder, name string) (names []string) {
	packages, err := parser.ParseDir(token.NewFileSet(), folder, nil, 0)
	require.NoError(t, err)
	for path, file := range packages[name].Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || strings.HasSuffix(path, "_test.go") || len(f.Type.Params.List) == 0 {
				continue
			}
			if first, ok := f.Type.Params.List[0].Type.(*ast.SelectorExpr); ok && first.Sel.Name == "Context" {
				names = append(names, name+"."+f.Name.Name)
			}
		}
	}
	return names
}

// TestCallsEnd: every call ends with its context, with a client of one server and with cluster clients, whether or not
// they know their nodes, while all servers accept connections and say nothing. A batch has a million keys.
func TestCallsEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close() // before the clients, whose Close can wait without end for a connection that waits for a reply
	mute := redistest.Connect(t, &redis.Options{Addr: l.Addr().String()})
	lost := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{l.Addr().String()}}) // it never learns the slots
	t.Cleanup(func() { lost.Close() })

	scheme, err := bloom.NewScheme(1000, 0.01)
	require.NoError(t, err)
	layered, err := redisbloom.New(redisbloom.Plan{N: 1000, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	many, one := keysOf(0, 1_000_000), keyOf(0)
	local, err := redisfilter.NewLocal(kinds[0].n, kinds[0].p, redisfilter.WithShards(4))
	require.NoError(t, err)

	calls, large := map[string]func(context.Context) error{}, map[string]bool{} // large: a million keys
	methods := func(name string, filter any) {
		v := reflect.ValueOf(filter)
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			if slices.Contains(inputs(m.Type), reflect.TypeOf(many)) {
				large[name+"."+m.Name] = true
			}
			calls[name+"."+m.Name] = func(ctx context.Context) error {
				args := []reflect.Value{reflect.ValueOf(ctx)}
				for _, p := range inputs(m.Type)[2:] {
					switch p {
					case reflect.TypeOf(one):
						args = append(args, reflect.ValueOf(one))
					case reflect.TypeOf(many):
						args = append(args, reflect.ValueOf(many))
					case reflect.TypeOf(local):
						args = append(args, reflect.ValueOf(local))
					default:
						args = append(args, reflect.Zero(p))
					}
				}
				out := v.Method(i).Call(args)
				err, _ := out[len(out)-1].Interface().(error)
				return err
			}
		}
	}
	var functions []string
	for name, c := range map[string]redis.UniversalClient{"single": mute, "cluster without slots": lost} {
		for function, call := range map[string]func(context.Context) error{
			"redisfilter.Open": func(ctx context.Context) error {
				_, err := redisfilter.Open(ctx, c, "f", 1000, 0.01, redisfilter.WithShards(4))
				return err
			},
			"redisfilter.Join": func(ctx context.Context) error { _, err := redisfilter.Join(ctx, c, "f"); return err },
			"bf.Open": func(ctx context.Context) error {
				_, err := bf.Open(ctx, c, "f", redisbloom.Plan{N: 1000, P: 0.01, Expansion: 2})
				return err
			},
			"bf.Pull": func(ctx context.Context) error { _, err := bf.Pull(ctx, c, "f"); return err },
			"bf.Push": func(ctx context.Context) error { return bf.Push(ctx, c, "f", layered) },
		} {
			functions = append(functions, function)
			calls[name+"/"+function] = call
		}
		b, err := bitmap.Open(c, "b", scheme, 0, false)
		require.NoError(t, err)
		methods(name+"/bitmap", b)
	}
	slices.Sort(functions)
	want := slices.Concat(withContext(t, ".", "redisfilter"), withContext(t, "bf", "bf"), withContext(t, "bitmap", "bitmap"))
	slices.Sort(want)
	require.Equal(t, want, slices.Compact(functions))

	var opened sync.Map // the module's filter is opened without the module
	reserved := redistest.Connect(t, &redis.Options{Addr: l.Addr().String()})
	reserved.AddHook(redistest.Hook(func(cmds []redis.Cmder, next func() error) error {
		if _, again := opened.LoadOrStore("opened", true); again {
			return next()
		}
		cmds[0].(send.Once).Cmder.(*redis.Cmd).SetVal("OK")
		return nil
	}))
	b, err := bf.Open(bg, reserved, "f", redisbloom.Plan{N: 1000, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	methods("bf", b)

	s, cluster := redistest.Start(t), redistest.StartCluster(t, 3, false)
	for name, c := range map[string]redis.UniversalClient{"single": redistest.Connect(t, &redis.Options{Addr: s.Addr}), "cluster": cluster.Client()} {
		for _, k := range kinds[:3] {
			f, err := redisfilter.Open(bg, c, k.name, k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], noCache, redisfilter.WithShards(4))...)
			require.NoError(t, err)
			methods(name+"/"+k.name, f)
		}
	}
	for _, node := range append(cluster.Nodes, s) {
		node.Hang(t)
	}
	var mu sync.Mutex
	times := map[bool][]time.Duration{}
	var all redistest.Group
	for name, call := range calls {
		measure := func() {
			ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			err := call(ctx)
			took := time.Since(began)
			if !errors.Is(err, bloom.ErrIncompatible) { // of filters that cannot be transferred
				assert.ErrorIs(t, err, context.DeadlineExceeded, name)
			}
			assert.Less(t, took, 15*time.Second, "%s: a client without a context gives up after 20 s", name)
			mu.Lock()
			defer mu.Unlock()
			times[large[name]] = append(times[large[name]], took)
		}
		if large[name] { // one at a time
			measure()
		} else {
			all.Go(measure)
		}
	}
	all.Wait()
	for large, times := range times {
		slices.Sort(times)
		t.Logf("%d calls, of a million keys: %v: median %v, slowest %v", len(times), large, times[len(times)/2], times[len(times)-1])
	}
}

// inputs returns the types of a function's parameters.
func inputs(f reflect.Type) (types []reflect.Type) {
	for i := range f.NumIn() {
		types = append(types, f.In(i))
	}
	return types
}
