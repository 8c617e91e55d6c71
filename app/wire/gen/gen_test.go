package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClientIsUpToDate(t *testing.T) {
	top, err := findTop()
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(filepath.Join(top, "app"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(top, output))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run `go run ./app/wire/gen`", output)
	}
}

// source is a small contract that uses every form the generator knows.
const source = `package app

import (
	"context"
	"time"

	"carrel/store"
)

type API struct{ Books BooksAPI }

// BooksAPI is about books.
type BooksAPI interface {
	// Find finds.
	Find(ctx context.Context, args Query) ([]Book, error)
	Burn(ctx context.Context) error
}

type Query struct {
	Text string ` + "`json:\"text,omitempty\"`" + `
}

// Shelf says where.
type Shelf string

const (
	Top Shelf = "top"
	Low Shelf = "low"
)

type Book struct {
	Shelf Shelf             ` + "`json:\"shelf\"`" + ` // where it stands
	Read  *time.Time        ` + "`json:\"read,omitempty\"`" + `
	Marks map[string][]int  ` + "`json:\"marks\"`" + `
	Cover []byte            ` + "`json:\"cover\"`" + ` // base64
}

type Burned struct{}

func (Burned) EventName() string { return "book.burned" }

func use() { _ = store.Open }
`

func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGoTypesBecomeTypeScript(t *testing.T) {
	text, err := generate(write(t, source))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"/** Shelf says where. */\nexport type Shelf = \"top\" | \"low\";",
		"  /** where it stands */\n  shelf: Shelf;\n  read?: string;\n  marks: Record<string, number[]>;\n  /** base64 */\n  cover: string;\n",
		"export interface Query {\n  text?: string;\n}",
		`"books.find": { args: Query; result: Book[] };`,
		`"books.burn": { args: undefined; result: void };`,
		`  | { name: "book.burned"; data: Burned };`,
		"export type Burned = Record<string, never>;",
		"    /** Find finds. */\n    find(args: Query): Promise<Book[]>;\n    burn(): Promise<void>;\n",
		`find: (args) => call("books.find", args),`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestWhatTypeScriptCannotExpressIsRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"a type of another package": {"Shelf Shelf  ", "Shelf store.Shelf  "},
		"a field without a name":    {`json:"shelf"`, `xml:"shelf"`},
		"a pointer that may be null": {
			`json:"read,omitempty"`, `json:"read"`,
		},
		"a channel":                {"map[string][]int ", "chan int "},
		"two arguments":            {"args Query)", "args Query, more Query)"},
		"no error result":          {"Burn(ctx context.Context) error", "Burn(ctx context.Context) int"},
		"an event with no literal": {`return "book.burned"`, `return name`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(source, change[0], change[1], 1)
			if text == source {
				t.Fatal("the change does not apply")
			}
			if _, err := generate(write(t, text)); err == nil {
				t.Error("accepted")
			}
		})
	}
}
