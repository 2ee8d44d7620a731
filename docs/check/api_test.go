package check

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// released are the modules that others import, by their folders.
var released = []string{".", "redisfilter", "prombloom"}

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

// TestExportedNames prints how many names each package exports: go test -v -run ExportedNames.
func TestExportedNames(t *testing.T) {
	count := 0
	for _, p := range load(t) {
		lines := exported(p)
		count += len(lines)
		t.Logf("%4d %s", len(lines), strings.TrimPrefix(strings.Replace(p.PkgPath, modulePath, "bloom", 1), "/"))
	}
	t.Logf("%4d in all", count)
}
