package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"unicode"

	"carrel/app"
)

// Caller calls a service by its name on the wire.
type Caller interface {
	// Call sends in (nil for a call without arguments) and stores the result in out, a pointer, or
	// nil to ignore it. What a person may read of a failure is an *app.Error.
	Call(ctx context.Context, name string, in, out any) error
}

// table finds the method for a name.
type table struct {
	methods map[string]method
	log     *slog.Logger
}

// method is one call.
type method struct {
	fn     reflect.Value
	args   reflect.Type // nil for none
	result bool
}

// newTable reflects over the fields of api. A nil service has no calls.
func newTable(api app.API, log *slog.Logger) *table {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &table{methods: map[string]method{}, log: log}
	v := reflect.ValueOf(api)
	for i := range v.NumField() {
		service, field := v.Field(i), v.Type().Field(i)
		if service.IsNil() {
			continue
		}
		for j := range field.Type.NumMethod() {
			m := field.Type.Method(j)
			name := lowerFirst(field.Name) + "." + lowerFirst(m.Name)
			call := method{fn: service.Method(j), result: m.Type.NumOut() == 2}
			if m.Type.NumIn() == 2 {
				call.args = m.Type.In(1)
			}
			t.methods[name] = call
		}
	}
	return t
}

// call runs a service. A failure that a person may read is an *app.Error; anything else goes to the
// log and becomes one with the code "internal".
func (t *table) call(ctx context.Context, name string, args json.RawMessage) (any, error) {
	m, ok := t.methods[name]
	if !ok {
		return nil, &app.Error{Code: "unknown_call", Message: fmt.Sprintf("This core does not know the call %q; is the page older or newer than the core?", cut(name))}
	}
	in := []reflect.Value{reflect.ValueOf(ctx)}
	if m.args != nil {
		v := reflect.New(m.args)
		if len(bytes.TrimSpace(args)) > 0 {
			if err := json.Unmarshal(args, v.Interface()); err != nil {
				return nil, &app.Error{Code: "bad_request", Message: fmt.Sprintf("The arguments of %s can't be read.", name), Cause: err}
			}
		}
		in = append(in, v.Elem())
	}
	result, err := t.run(name, m, in)
	if err == nil {
		return result, nil
	}
	return nil, t.public(ctx, name, err)
}

// run calls the method; a panic becomes an error and goes to the log with its stack.
func (t *table) run(name string, m method, in []reflect.Value) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("a call panicked", "call", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, errPanicked
		}
	}()
	out := m.fn.Call(in)
	if e := out[len(out)-1]; !e.IsNil() {
		return nil, e.Interface().(error)
	}
	if m.result {
		return out[0].Interface(), nil
	}
	return nil, nil
}

var errPanicked = errors.New("panicked")

// public turns an error into one that a person may read.
func (t *table) public(ctx context.Context, name string, err error) error {
	var known *app.Error
	switch {
	case errors.As(err, &known):
		if known.Cause != nil {
			t.log.Info("a call failed", "call", name, "code", known.Code, "error", err)
		}
		return err
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &app.Error{Code: "cancelled", Message: "The call was cancelled.", Cause: err}
	case !errors.Is(err, errPanicked):
		t.log.Error("a call failed", "call", name, "error", err)
	}
	e := publicError(err)
	return &app.Error{Code: e.Code, Message: e.Message, Cause: err}
}

// local calls the services of this process.
type local struct{ table *table }

// Local returns a Caller for services in this process. Arguments and results go through the same
// encoding as on a connection. log may be nil.
func Local(api app.API, log *slog.Logger) Caller { return local{newTable(api, log)} }

// Call implements Caller.
func (l local) Call(ctx context.Context, name string, in, out any) error {
	args, err := encodeArgs(name, in)
	if err != nil {
		return err
	}
	result, err := l.table.call(ctx, name, args)
	if err != nil || out == nil {
		return err
	}
	data, err := encode(result)
	if err != nil {
		return fmt.Errorf("encode the result of %q: %w", name, err)
	}
	return decodeResult(name, data, out)
}

func encodeArgs(name string, in any) (json.RawMessage, error) {
	if in == nil {
		return nil, nil
	}
	args, err := encode(in)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments of %q: %w", name, err)
	}
	return args, nil
}

func decodeResult(name string, data json.RawMessage, out any) error {
	if out == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("decode the result of %q: %w", name, err)
	}
	return nil
}

func lowerFirst(s string) string {
	for i, r := range s {
		return string(unicode.ToLower(r)) + s[i+len(string(r)):]
	}
	return s
}

// cut shortens a name that a host chose, for messages and logs.
func cut(s string) string {
	if len(s) > maxNameSize {
		return s[:maxNameSize]
	}
	return s
}
