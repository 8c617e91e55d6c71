package desktop

import "strings"

// loopback is what no proxy may see: the core's page is there.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// withoutProxy returns the values that no_proxy and NO_PROXY need, given an environment, so that a
// proxy of the person's does not catch the loopback. It must be set before WebKit starts.
func withoutProxy(env func(string) string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"no_proxy", "NO_PROXY"} {
		if value := exempt(env(name)); value != env(name) {
			out[name] = value
		}
	}
	return out
}

// exempt adds the loopback to a list of exemptions.
func exempt(list string) string {
	have := map[string]bool{}
	var names []string
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			have[name] = true
			names = append(names, name)
		}
	}
	if have["*"] {
		return list
	}
	for _, name := range loopback {
		if !have[name] {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
