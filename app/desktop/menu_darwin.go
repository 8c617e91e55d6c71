//go:build desktop

package desktop

import "github.com/wailsapp/wails/v2/pkg/menu"

// applicationMenu has what macOS needs for copy, paste and quit.
func applicationMenu() *menu.Menu {
	m := menu.NewMenu()
	m.Append(menu.AppMenu())
	m.Append(menu.EditMenu())
	m.Append(menu.WindowMenu())
	return m
}
