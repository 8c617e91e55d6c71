package tool

import (
	"context"
	"fmt"
	"unicode/utf8"
)

const (
	maxTodos    = 50
	maxTodoText = 500 // characters
)

// todoWrite keeps the todo list.
type todoWrite struct{}

func (todoWrite) Spec() Spec {
	s := spec("todo_write", `"todos":{"type":"array","maxItems":50,"items":{"type":"object","properties":{
"content":{"type":"string","description":"At most 500 characters"},
"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}`, "todos")
	s.Harmless = true
	return s
}

func (todoWrite) Run(_ context.Context, c Call) Result {
	todos, err := todosOf(c)
	if err != nil {
		return Fail(err.Error())
	}
	if c.Env.SaveTodos != nil {
		c.Env.SaveTodos(todos)
	}
	count := map[string]int{}
	for _, t := range todos {
		count[t.Status]++
	}
	r := Text(fmt.Sprintf("Saved: %d completed, %d in progress, %d pending.", count["completed"], count["in_progress"], count["pending"]))
	r.Detail.Todos = todos
	return r
}

func todosOf(c Call) ([]Todo, error) {
	in := read(c.Input)
	todos := []Todo{}
	if !in.decode("todos", "an array of objects with the strings content and status", &todos) {
		in.fail(`"todos" is missing; it must be an array`)
	}
	if len(todos) > maxTodos {
		in.fail(`"todos" has %d entries, at most %d go: join some`, len(todos), maxTodos)
	}
	for i, t := range todos {
		switch t.Status {
		case "pending", "in_progress", "completed":
		default:
			in.fail("todos[%d].status is %q; it must be pending, in_progress or completed", i, t.Status)
		}
		if n := utf8.RuneCountInString(t.Content); n == 0 || n > maxTodoText {
			in.fail("todos[%d].content has %d characters; it must have 1 to %d", i, n, maxTodoText)
		}
	}
	return todos, in.err
}
