//go:build !unix

package git

func tryLockDir(string) (unlock func(), busy bool) { return func() {}, false }
