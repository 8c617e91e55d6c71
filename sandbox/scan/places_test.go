package scan_test

import (
	"reflect"
	"testing"

	"carrel/sandbox/plan"
	"carrel/sandbox/scan"
)

func TestPlacesAreWhatCommandsCanChange(t *testing.T) {
	got := scan.Places(plan.Plan{
		Write: []string{"/p", "/p/sub", "/p2", "/p"},
		Mounts: []plan.Mount{
			{Kind: plan.KindRoot, Target: "/"}, {Kind: plan.KindRW, Target: "/p"}, {Kind: plan.KindRO, Target: "/p/.git/config"},
			{Kind: plan.KindRO, Target: "/home/x"}, {Kind: plan.KindRO, Target: "/p/held"}, {Kind: plan.KindPin, Target: "/p/held/open"}, {Kind: plan.KindRO, Target: "/pp"},
		},
	})
	want := scan.Config{Roots: []string{"/p", "/p2"}, Held: []string{"/p/.git/config", "/p/held"}, Open: []string{"/p", "/p/held/open"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := scan.Places(plan.Plan{}); !reflect.DeepEqual(got, scan.Config{}) {
		t.Errorf("%+v", got)
	}
}
