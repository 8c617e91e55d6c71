package plan

import (
	"reflect"
	"testing"
)

func TestMachinesThatDifferAnywhereAreNotEqual(t *testing.T) {
	var m Machine
	if !m.equal(Machine{}) {
		t.Error("a machine is not equal to itself")
	}
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		var n Machine
		f := reflect.ValueOf(&n).Elem().Field(i)
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(1)
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			f.Field(0).SetInt(1)
		default:
			t.Fatalf("%s is of a kind that this test does not know", v.Type().Field(i).Name)
		}
		if m.equal(n) || n.equal(m) {
			t.Errorf("a change of %s does not count", v.Type().Field(i).Name)
		}
	}
}
