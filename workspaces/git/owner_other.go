//go:build !unix

package git

func ownedByOther(string) bool { return false }
