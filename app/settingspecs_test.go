package app

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"carrel/store"
)

// A setting that nobody declared would be in no view, search or document.
func TestEverySettingIsDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, spec := range settingSpecs() {
		if declared[spec.key] {
			t.Errorf("%s is declared twice", spec.key)
		}
		declared[spec.key] = true
		usual, err := json.Marshal(spec.usual)
		if err != nil || spec.title == "" || spec.help == "" || spec.section == "" {
			t.Errorf("%s: %+v", spec.key, spec)
		}
		if err := spec.checkKind(usual); err != nil {
			t.Errorf("%s: its default: %v", spec.key, err)
		}
	}
	for _, key := range fieldsOf(reflect.TypeFor[store.Settings](), "") {
		if !declared[key] {
			t.Errorf("%s is a field of store.Settings and no settingSpec; add it to settingSpecs", key)
		}
	}
}

// fieldsOf are the paths of the fields that a file has; those of Permissions and Sandbox one by one.
func fieldsOf(t reflect.Type, prefix string) (keys []string) {
	for f := range t.Fields() {
		name := strings.Split(f.Tag.Get("json"), ",")[0]
		if name == "-" {
			continue // no setting: what is said of the file
		}
		key := prefix + name
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, fieldsOf(f.Type, key+".")...)
			continue
		}
		keys = append(keys, key)
	}
	return keys
}
