package desktop

import (
	"net/url"
	"strings"
)

// ownOrigin is where Wails serves the window's own page.
const ownOrigin = "wails://wails"

// opens reports whether an address may leave for the person's browser or mail program.
func opens(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

// stays reports whether the web view may go to an address: the window's own page, or the page of
// the core at coreURL.
func stays(address, coreURL string) bool {
	return within(address, ownOrigin) || coreURL != "" && within(address, coreURL)
}

// within reports whether an address is the origin or below it.
func within(address, origin string) bool {
	rest, ok := strings.CutPrefix(address, strings.TrimSuffix(origin, "/"))
	return ok && (rest == "" || strings.ContainsRune("/?#", rune(rest[0])))
}
