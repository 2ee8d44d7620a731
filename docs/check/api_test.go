package check

import (
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "write docs/api.txt and the table in docs/api.md from the code")

// released are the modules that others import, by their folders.
var released = []string{".", "redisbloom", "prombloom"}

// load returns the packages that others can import, by their import paths.
func load(t *testing.T) []*packages.Package {
	var all []*packages.Package
	for _, module := range released {
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypesInfo,
			Dir:  filepath.Join("../..", module), Env: append(os.Environ(), "GOWORK=off"),
		}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if len(p.Errors) > 0 {
				t.Fatal(p.Errors[0])
			}
			if p.Name != "main" && !strings.Contains(p.PkgPath, "/internal") {
				all = append(all, p)
			}
		}
	}
	return all
}

// short is how a type is written in the lists: without the path of its package.
func short(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// exported lists what a package exports: a line for each name, with its fields and methods.
func exported(p *packages.Package) (lines []string) {
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Func:
			lines = append(lines, "func "+name+strings.TrimPrefix(short(o.Type()), "func"))
		case *types.Const:
			lines = append(lines, "const "+name)
		case *types.Var:
			lines = append(lines, "var "+name+" "+short(o.Type()))
		case *types.TypeName:
			lines = append(lines, "type "+name+parameters(o.Type()))
			if s, ok := o.Type().Underlying().(*types.Struct); ok {
				for i := range s.NumFields() {
					if f := s.Field(i); f.Exported() {
						lines = append(lines, "type "+name+", "+f.Name()+" "+short(f.Type()))
					}
				}
			}
			for m := range methods(o.Type()) {
				lines = append(lines, "method "+name+"."+m.Name()+strings.TrimPrefix(short(m.Type()), "func"))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func parameters(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.TypeParams().Len() == 0 {
		return ""
	}
	var list []string
	for i := range named.TypeParams().Len() {
		list = append(list, named.TypeParams().At(i).Obj().Name())
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// methods yields the exported methods of a type and of a pointer to it.
func methods(t types.Type) func(yield func(*types.Func) bool) {
	return func(yield func(*types.Func) bool) {
		of := t
		if !types.IsInterface(t) {
			of = types.NewPointer(t)
		}
		set := types.NewMethodSet(of)
		for i := range set.Len() {
			if f, ok := set.At(i).Obj().(*types.Func); ok && f.Exported() && !yield(f) {
				return
			}
		}
	}
}

// TestExportedNames holds docs/api.txt to the code: whoever exports, renames or removes a
// name sees it in the change.
func TestExportedNames(t *testing.T) {
	var text strings.Builder
	count := 0
	for _, p := range load(t) {
		lines := exported(p)
		count += len(lines)
		fmt.Fprintf(&text, "%s (%d)\n", strings.TrimPrefix(strings.Replace(p.PkgPath, modulePath, "bloom", 1), "/"), len(lines))
		for _, line := range lines {
			fmt.Fprintf(&text, "\t%s\n", line)
		}
	}
	compare(t, "../api.txt", fmt.Sprintf("%d exported names\n\n", count)+text.String())
}

// operations are the rows of the table in docs/api.md: what may be done with a filter, and
// the names that it may have.
var operations = []struct {
	what  string
	names []string
}{
	{"make", []string{"New", "Open"}},
	{"make by m and k", []string{"NewWithParams"}},
	{"read, open", []string{"Read", "Load", "OpenExisting", "Join"}},
	{"add", []string{"Add"}}, {"", []string{"AddString"}}, {"", []string{"AddHash"}},
	{"ask", []string{"Contains"}}, {"", []string{"ContainsString"}}, {"", []string{"ContainsHash"}},
	{"digest", []string{"Hash"}},
	{"many", []string{"AddMany"}}, {"", []string{"ContainsMany"}}, {"", []string{"AddManyStrings"}}, {"", []string{"ContainsManyStrings"}},
	{"remove", []string{"Remove"}},
	{"unite", []string{"Union", "Merge"}},
	{"what it is like", []string{"Stats"}}, {"", []string{"Params"}}, {"", []string{"SizeBytes"}}, {"", []string{"String"}},
	{"write", []string{"WriteTo", "Save"}},
}

// columns are the filters, by package and type.
var columns = []struct{ path, typ string }{
	{"", "BloomFilter"}, {"", "Typed"}, {"/persist", "File"}, {"/scalable", "Filter"}, {"/rotating", "Filter"}, {"/counting", "Filter"}, {"/redisbloom", "Filter"}, {"/redisbloom/window", "Filter"}, {"/interop/rebloom", "Filter"}, {"/cascade", "Cascade"}, {"/redisbloom/growing", "Filter"},
}

const (
	tableBegins = "<!-- the table is written by the tests of docs/check -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

// TestShapes holds the table in docs/api.md to the code: the same thing has the same name,
// order and result in every package.
func TestShapes(t *testing.T) {
	byPath := map[string]*packages.Package{}
	for _, p := range load(t) {
		byPath[strings.TrimPrefix(p.PkgPath, modulePath)] = p
	}
	var table strings.Builder
	table.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&table, " `%s.%s` |", byPath[c.path].Name, c.typ)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, op := range operations {
		fmt.Fprintf(&table, "| %s |", op.what)
		for _, c := range columns {
			var found []string
			p := byPath[c.path].Types
			object := p.Scope().Lookup(c.typ)
			if object == nil {
				t.Fatalf("%s has no type %s", p.Path(), c.typ)
			}
			for _, name := range op.names {
				for m := range methods(object.Type()) {
					if m.Name() == name {
						found = append(found, "`"+shape(name, m.Signature())+"`")
					}
				}
				makes := name
				if c.typ == "Typed" {
					makes += c.typ
				}
				if f, ok := p.Scope().Lookup(makes).(*types.Func); ok && returns(f, c.typ) {
					found = append(found, "`"+shape(makes, f.Signature())+"`")
				}
			}
			fmt.Fprintf(&table, " %s |", strings.Join(found, ", "))
		}
		table.WriteString("\n")
	}
	const file = "../api.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !ok || !ends {
		t.Fatalf("%s has no place for the table", file)
	}
	compare(t, file, before+tableBegins+"\n"+table.String()+"\n"+tableEnds+after)
}

// returns reports whether a function makes values of the type.
func returns(f *types.Func, typ string) bool {
	for v := range f.Signature().Results().Variables() {
		if name := short(v.Type()); strings.HasSuffix(name, "."+typ) || strings.Contains(name, "."+typ+"[") {
			return true
		}
	}
	return false
}

// shape is a signature as the table has it: the names of the parameters, and the types of
// the results.
func shape(name string, s *types.Signature) string {
	var in, out []string
	for v := range s.Params().Variables() {
		in = append(in, v.Name())
	}
	if s.Variadic() {
		in[len(in)-1] += "..."
	}
	for v := range s.Results().Variables() {
		out = append(out, strings.TrimPrefix(short(v.Type()), "*"))
	}
	text := name + "(" + strings.Join(in, ", ") + ")"
	if len(out) > 0 {
		text += " " + strings.Join(out, ", ")
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// compare holds a file to what it should be, or writes it.
func compare(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s, line %d, does not fit the code; go test -update brings it up to date:\n%s\nwant\n%s", file, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
