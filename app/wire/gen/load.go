package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// contract is what package app promises to hosts.
type contract struct {
	pkg    *types.Package
	docs   map[string]string // "Type", "Type.Field" and "Interface.Method" to their comments
	events []event
}

// event is a type with an EventName method.
type event struct{ name, typ string }

// load reads the package in dir. Function bodies and imports are not type-checked: what hosts see
// consists of plain types of package app, and a type from elsewhere is refused when it is emitted.
func load(dir string) (*contract, error) {
	fset := token.NewFileSet()
	files, err := parse(fset, dir)
	if err != nil {
		return nil, err
	}
	conf := types.Config{
		IgnoreFuncBodies: true,
		Importer:         stubs{},
		Error:            func(error) {}, // names of packages that stubs does not know
	}
	pkg, err := conf.Check("carrel/app", fset, files, nil)
	if pkg == nil {
		return nil, err
	}
	c := &contract{pkg: pkg, docs: map[string]string{}}
	for _, f := range files {
		for _, decl := range f.Decls {
			if err := c.note(decl); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, os.ErrNotExist
	}
	return files, nil
}

// note keeps a declaration's comments and, of an EventName method, the name it returns.
func (c *contract) note(decl ast.Decl) error {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return c.noteEvent(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				c.noteType(d, t)
			}
		}
	}
	return nil
}

func (c *contract) noteType(d *ast.GenDecl, t *ast.TypeSpec) {
	doc := t.Doc
	if doc == nil {
		doc = d.Doc
	}
	c.docs[t.Name.Name] = doc.Text()
	var fields *ast.FieldList
	switch u := t.Type.(type) {
	case *ast.StructType:
		fields = u.Fields
	case *ast.InterfaceType:
		fields = u.Methods
	default:
		return
	}
	for _, f := range fields.List {
		text := f.Doc.Text() + f.Comment.Text()
		for _, name := range f.Names {
			c.docs[t.Name.Name+"."+name.Name] = text
		}
	}
}

func (c *contract) noteEvent(d *ast.FuncDecl) error {
	if d.Recv == nil || d.Name.Name != "EventName" {
		return nil
	}
	recv, ok := d.Recv.List[0].Type.(*ast.Ident)
	if !ok {
		return errors.New("an EventName method has a receiver that is no plain type")
	}
	name, err := literalResult(d)
	if err != nil {
		return fmt.Errorf("event %q: %w", recv.Name, err)
	}
	c.events = append(c.events, event{name, recv.Name})
	return nil
}

// literalResult returns the string that a function of one return statement returns.
func literalResult(d *ast.FuncDecl) (string, error) {
	if d.Body != nil && len(d.Body.List) == 1 {
		if r, ok := d.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			if lit, ok := r.Results[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				return strconv.Unquote(lit.Value)
			}
		}
	}
	return "", errors.New("EventName must return a string literal")
}

// stubs imports just enough for the types that hosts see.
type stubs struct{}

// Import returns an empty package with the one type that the contract uses.
func (stubs) Import(path string) (*types.Package, error) {
	known := map[string]string{"time": "Time", "context": "Context"}
	name, ok := known[path]
	if !ok {
		return nil, errors.New("not needed")
	}
	pkg := types.NewPackage(path, path)
	obj := types.NewTypeName(token.NoPos, pkg, name, nil)
	types.NewNamed(obj, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(obj)
	pkg.MarkComplete()
	return pkg, nil
}
