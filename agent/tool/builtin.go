package tool

import (
	"embed"
	"encoding/json"
)

// docs are the descriptions, one Markdown file per tool.
//
//go:embed *.md
var docs embed.FS

// Builtin gives the tools that every conversation has.
func Builtin() []Tool {
	return []Tool{bash{}, fileRead{}, replaceString{}, replaceLines{}, insert{}, todoWrite{}}
}

// Find gives the tool of that name.
func Find(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// spec puts a tool's description and schema together. Both are part of the program, so a missing
// one is a mistake that the tests find.
func spec(name, properties string, required ...string) Spec {
	text, err := docs.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	need, err := json.Marshal(required)
	if err != nil {
		panic(err)
	}
	return Spec{
		Name:        name,
		Description: string(text),
		Schema:      json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":` + string(need) + `}`),
	}
}
