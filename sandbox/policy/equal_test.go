package policy

import (
	"reflect"
	"testing"
)

func TestPoliciesThatDifferAnywhereAreNotEqual(t *testing.T) {
	p := Defaults("/h", "/h/.carrel")
	p.Allowed = []string{}
	if !p.Equal(p) || !p.Equal(Defaults("/h", "/h/.carrel").with(p.Allowed)) {
		t.Error("a policy is not equal to itself")
	}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		q := p
		f := reflect.ValueOf(&q).Elem().Field(i)
		name := v.Type().Field(i).Name
		changed := reflect.New(f.Type()).Elem()
		switch f.Kind() {
		case reflect.String:
			changed.SetString(f.String() + "x")
		case reflect.Bool:
			changed.SetBool(!f.Bool())
		case reflect.Slice:
			changed.Set(reflect.Append(reflect.AppendSlice(changed, f), reflect.New(f.Type().Elem()).Elem()))
		case reflect.Struct:
			changed.Set(f)
			changed.Field(0).SetInt(f.Field(0).Int() + 1)
		default:
			t.Fatalf("%s is of a kind that this test does not know", name)
		}
		f.Set(changed)
		if p.Equal(q) || q.Equal(p) {
			t.Errorf("a change of %s does not count", name)
		}
	}
	q := p
	q.Allowed = nil
	if p.Equal(q) {
		t.Error("no list of hosts, which means the registries, counts as an empty one")
	}
}

func (p Policy) with(allowed []string) Policy {
	p.Allowed = allowed
	return p
}
