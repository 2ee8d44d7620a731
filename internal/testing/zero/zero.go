// Package zero tests the methods of a package's zero values.
package zero

import (
	"context"
	"errors"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
)

// Values calls every method of zero values, with zero arguments, empty readers, io.Discard, and batches of one empty
// key. Each method must return without an error, return one of the errors that call allows, or panic with a text that
// begins with the package's name. Values returns the methods that return without an error. Each exported type of the
// package in the current folder that has exported methods must be among the values.
func Values(t *testing.T, values ...any) (answer []string) {
	t.Helper()
	pkg, want := withMethods(t)
	var names []string
	for _, v := range values {
		name, answers := Methods(t, pkg, v)
		names = append(names, name)
		answer = append(answer, answers...)
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("the zero %s is not tried", name)
		}
	}
	return answer
}

// Methods is [Values] for one value of a type of package pkg. It also returns the type's name.
func Methods(t *testing.T, pkg string, v any) (name string, answer []string) {
	t.Helper()
	of := reflect.TypeOf(v)
	named := of
	if of.Kind() == reflect.Pointer {
		named = of.Elem()
	}
	name, _, _ = strings.Cut(named.Name(), "[") // without type parameters
	for i := range of.NumMethod() {
		method := of.Method(i)
		args := []reflect.Value{reflect.New(named)}
		if of.Kind() != reflect.Pointer {
			args[0] = args[0].Elem()
		}
		for j := 1; j < method.Type.NumIn(); j++ {
			arg := reflect.Zero(method.Type.In(j))
			switch arg.Type() {
			case reflect.TypeFor[io.Writer]():
				arg = reflect.ValueOf(io.Discard)
			case reflect.TypeFor[io.Reader](), reflect.TypeFor[io.ReaderAt]():
				arg = reflect.ValueOf(strings.NewReader(""))
			case reflect.TypeFor[context.Context]():
				arg = reflect.ValueOf(context.Background())
			case reflect.TypeFor[[][]byte]():
				arg = reflect.ValueOf([][]byte{nil})
			}
			if arg.Kind() == reflect.Chan { // a nil channel would block
				arg = reflect.MakeChan(reflect.ChanOf(reflect.BothDir, arg.Type().Elem()), 1000)
			}
			args = append(args, arg)
		}
		if call(t, pkg, of.String()+"."+method.Name, method.Func, args) {
			answer = append(answer, name+"."+method.Name)
		}
	}
	return name, answer
}

// call calls a method and reports whether it returns without an error.
func call(t *testing.T, pkg, name string, method reflect.Value, args []reflect.Value) (answers bool) {
	t.Helper()
	defer func() {
		why := recover()
		if want := pkg + ": "; why != nil && !strings.HasPrefix(fmt.Sprint(why), want) {
			t.Errorf("%s: panic: %v, want a text that begins with %q", name, why, want)
		}
	}()
	var out []reflect.Value
	if method.Type().IsVariadic() {
		out = method.CallSlice(args)
	} else {
		out = method.Call(args)
	}
	if len(out) == 0 {
		return true
	}
	err, _ := out[len(out)-1].Interface().(error)
	if err == nil {
		return true
	}
	if strings.Contains(err.Error(), "has no text form: use ") {
		return false
	}
	for _, allowed := range []error{bloom.ErrInvalid, bloom.ErrCorrupt, io.EOF, errors.ErrUnsupported, fs.ErrClosed} {
		if errors.Is(err, allowed) {
			return false
		}
	}
	t.Errorf("%s: %v, want an error that wraps %v", name, err, bloom.ErrInvalid)
	return false
}

// withMethods returns the name of the package in the current folder, and its exported types with exported methods.
func withMethods(t *testing.T) (pkg string, names []string) {
	t.Helper()
	notTest := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", notTest, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		pkg = p.Name
		for _, of := range doc.New(p, ".", 0).Types {
			if len(of.Methods) > 0 {
				names = append(names, of.Name)
			}
		}
	}
	return pkg, names
}
