//go:build desktop && !darwin

package desktop

import "github.com/wailsapp/wails/v2/pkg/menu"

// applicationMenu is empty: the accelerators of a GTK menu would keep keys from the page.
func applicationMenu() *menu.Menu { return nil }
