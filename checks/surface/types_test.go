// Package surface checks all exported types of the modules for users.
package surface

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/types"
	"iter"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	dropin "github.com/seed3447c163/bloom/compat/bitsandblooms"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/prombloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/bf"
	"github.com/seed3447c163/bloom/redisfilter/bitmap"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/seed3447c163/bloom/typed"
	"github.com/seed3447c163/bloom/view"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const root = "github.com/seed3447c163/bloom"

// exported yields the exported types of all packages for users, except interfaces, and functions and structs of them,
// which encoders refuse.
func exported(t *testing.T) iter.Seq2[*packages.Package, *types.TypeName] {
	const mode = packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedExportFile // from compiled packages
	all, err := packages.Load(&packages.Config{Mode: mode}, root+"/...", root+"/redisfilter/...", root+"/prombloom/...")
	require.NoError(t, err)
	contributors := regexp.MustCompile(`/(internal|examples|checks)(/|$)`)
	return func(yield func(*packages.Package, *types.TypeName) bool) {
		for _, pkg := range all {
			require.Empty(t, pkg.Errors)
			if pkg.Name == "main" || contributors.MatchString(pkg.PkgPath) {
				continue
			}
			for _, name := range pkg.Types.Scope().Names() {
				of, isType := pkg.Types.Scope().Lookup(name).(*types.TypeName)
				if !isType || !of.Exported() {
					continue
				}
				if !functions(of.Type()) && !yield(pkg, of) {
					return
				}
			}
		}
	}
}

// functions reports whether a type is an interface, a function or a struct with exported functions.
func functions(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Interface, *types.Signature:
		return true
	case *types.Struct:
		for field := range t.Fields() {
			if _, is := field.Type().(*types.Signature); is && field.Exported() {
				return true
			}
		}
	}
	return false
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// keys yields keys.
func keys(list ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range list {
			yield([]byte(key), nil)
		}
	}
}

type noKeys struct{}

func (noKeys) Keys(context.Context, []byte) iter.Seq2[[]byte, error] { return keys() }

func (noKeys) Position(context.Context) ([]byte, error) { return []byte{1}, nil }

// cases returns a value of each exported type, by package and name: a pointer if its methods need one.
func cases(t *testing.T) map[string]any {
	filter := bloom.MustNew(10, 0.01)
	filter.AddString("key")
	scheme, path := filter.Scheme(), filepath.Join(t.TempDir(), "list.bloom")
	require.NoError(t, persist.Save(path, filter))
	file := must(persist.Open(filepath.Join(t.TempDir(), "file.bloom"), 10, 0.01))
	t.Cleanup(func() { file.Close() })
	builder := must(view.NewBuilder(10, bloom.DoubleHashing))
	builder.Add([]byte("key"))
	_, added := builder.Append(nil, 1)
	own := dropin.New(64, 3).AddString("key")
	secret := bloom.WithSecret([16]byte{1})
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { client.Close() })
	return map[string]any{
		"bloom.BloomFilter":     filter,
		"bloom.Hash":            bloom.NewHash("", func([]byte) (h1, h2 uint64) { return 1, 2 }),
		"bloom.Params":          filter.Params(),
		"bloom.Scheme":          must(bloom.NewScheme(10, 0.01, secret)),
		"bloom.Stats":           filter.Stats(),
		"bloom.Strategy":        bloom.SplitBlock,
		"cascade.Cascade":       must(cascade.New(t.Context(), 0.01, keys("a"), keys("b"))),
		"compat.BitSet":         own.BitSet(),
		"compat.BloomFilter":    own,
		"counting.Filter":       must(counting.New(10, 0.01)),
		"guard.Guard":           must(guard.New("", 10, 0.01, noKeys{}, secret)),
		"guard.List":            must(guard.OpenList(path)),
		"guava.Release":         guava.Release(1),
		"parquet.Column":        parquet.Column{Path: "a.b", Type: "INT64"},
		"persist.File":          file,
		"prombloom.Collector":   prombloom.New(time.Second),
		"redisbloom.Filter":     must(redisbloom.New(redisbloom.Plan{N: 10, P: 0.01})),
		"redisbloom.Plan":       redisbloom.Plan{N: 10, P: 0.01},
		"redisfilter.AddError":  &redisfilter.AddError{Unknown: []int{1, 2}, Err: errors.New("cause")},
		"redisfilter.Filter":    new(redisfilter.Filter), // another one needs a server
		"redisfilter.Local":     must(redisfilter.NewLocal(10, 0.01)),
		"redisfilter/bf.Filter": new(bf.Filter),
		"redisfilter/bitmap.Filter": must(bitmap.Open(client, "bits", must(bloom.NewSchemeWithParams(
			bloom.Params{M: 64, K: 3})), 0)),
		"rotating.Filter": must(rotating.New(10, 0.01, time.Hour)),
		"scalable.Filter": must(scalable.New(10, 0.01)),
		"typed.Filter":    typed.New(filter, func(dst []byte, v int) []byte { return append(dst, byte(v)) }),
		"typed.Growing":   typed.NewGrowing(must(scalable.New(10, 0.01)), binary.LittleEndian.AppendUint64),
		"bloom.Builder":   must(scheme.Builder()),
		"view.Builder":    builder,
		"view.Filter":     added,
		"view.View":       must(view.Over(scheme, make([]byte, scheme.SizeBytes()))),
	}
}

// caseOf returns the name of a type in cases.
func caseOf(pkg *packages.Package, of *types.TypeName) string {
	path := strings.TrimPrefix(strings.TrimPrefix(pkg.PkgPath, root), "/")
	switch {
	case path == "":
		path = "bloom"
	case strings.HasPrefix(path, "compat/"):
		path = "compat"
	case !strings.HasPrefix(path, "redisfilter"):
		path = pkg.Name
	}
	return path + "." + of.Name()
}

// TestTypes: each exported type prints and logs in one line, and each encoder writes what it is or returns an error.
// Its zero value does that, too, and zero.Methods calls the methods of the zero value.
func TestTypes(t *testing.T) {
	values := cases(t)
	for pkg, of := range exported(t) {
		name := caseOf(pkg, of)
		v, found := values[name]
		delete(values, name)
		if !found {
			t.Errorf("%s has no case: add a value", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			none := reflect.Zero(reflect.TypeOf(v)).Interface()
			if pointer := reflect.TypeOf(v); pointer.Kind() == reflect.Pointer {
				none = reflect.New(pointer.Elem()).Interface()
			}
			if _, text := of.Type().Underlying().(*types.Basic); text {
				none = v // a zero text prints as nothing
			}
			for _, v := range []any{v, none} {
				prints(t, v)
				encodes(t, v, opaque(of.Type()))
			}
			if line := fmt.Sprint(none); strings.Contains(line, `""`) {
				t.Errorf("the zero value prints as %q, want a line without empty names", line)
			}
			prefix := pkg.Name
			if strings.HasPrefix(name, "redisfilter/") { // its packages have one prefix
				prefix = "redisfilter"
			}
			zero.Methods(t, prefix, none)
		})
	}
	require.Empty(t, values, "these types do not exist")
}

// opaque reports whether a struct has fields that encoders do not see.
func opaque(t types.Type) bool {
	s, isStruct := t.Underlying().(*types.Struct)
	if !isStruct {
		return false
	}
	for field := range s.Fields() {
		if !field.Exported() || field.Embedded() && opaque(field.Type()) {
			return true
		}
	}
	return false
}

var address = regexp.MustCompile(`0x[0-9a-f]{6}`)

// prints checks the line of a value for fmt and slog.
func prints(t *testing.T, v any) {
	lines := []string{fmt.Sprint(v), fmt.Sprintf("%+v", v)}
	for _, handler := range []func(*bytes.Buffer) slog.Handler{
		func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("", "value", v)
		line, value, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "value")
		lines = append(lines, line+value)
		if len(strings.Trim(value, `"=:{}`)) == 0 {
			t.Errorf("%T is logged as nothing: %s", v, out.String())
		}
	}
	for _, line := range lines {
		if line == "" || len(line) > 600 || strings.Contains(line, "\n") || address.MatchString(line) || strings.Contains(line, "!ERROR") {
			t.Errorf("%T prints as %q, want a line without addresses", v, line)
		}
	}
}

// A bsonValue is what the driver of MongoDB looks for, without importing it.
type bsonValue interface {
	MarshalBSONValue() (byte, []byte, error)
}

// encodes checks that each encoding of a value is the whole value or an error.
func encodes(t *testing.T, v any, opaque bool) {
	if data, err := json.Marshal(v); err == nil {
		if opaque && (string(data) == "{}" || string(data) == "null") {
			t.Errorf("%T in JSON is %s", v, data)
		}
		again := reflect.New(reflect.Indirect(reflect.ValueOf(v)).Type())
		if err, isError := v.(error); isError { // its cause cannot be read from JSON
			require.Contains(t, string(data), strings.Trim(string(must(json.Marshal(err.Error()))), `"`))
		} else if err := json.Unmarshal(data, again.Interface()); err != nil {
			t.Errorf("%T is not read from JSON: %v", v, err)
		} else if second := must(json.Marshal(again.Interface())); !bytes.Equal(data, second) {
			t.Errorf("%T in JSON is %s, then %s", v, data, second)
		}
	}
	if !opaque {
		return
	}
	text, isText := v.(encoding.TextMarshaler)
	binary, isBinary := v.(encoding.BinaryMarshaler)
	bson, isBSON := v.(bsonValue)
	if !isText || !isBinary || !isBSON {
		t.Errorf("%T: MarshalText %v, MarshalBinary %v, MarshalBSONValue %v: want all", v, isText, isBinary, isBSON)
		return
	}
	again := reflect.New(reflect.Indirect(reflect.ValueOf(v)).Type()).Interface()
	if data, err := text.MarshalText(); err == nil {
		require.NoError(t, again.(encoding.TextUnmarshaler).UnmarshalText(data))
		require.Equal(t, data, must(again.(encoding.TextMarshaler).MarshalText()))
		require.NotEmpty(t, data)
	}
	if data, err := binary.MarshalBinary(); err == nil {
		require.NoError(t, again.(encoding.BinaryUnmarshaler).UnmarshalBinary(data))
		require.Equal(t, data, must(again.(encoding.BinaryMarshaler).MarshalBinary()))
		require.NotEmpty(t, data)
	}
	_, _, err := bson.MarshalBSONValue()
	require.Error(t, err)
	var out bytes.Buffer
	if gob.NewEncoder(&out).Encode(v) == nil {
		require.NoError(t, gob.NewDecoder(&out).Decode(again))
	}
	out.Reset()
	if xml.NewEncoder(&out).Encode(v) == nil {
		require.NoError(t, xml.NewDecoder(&out).Decode(again))
	}
}
