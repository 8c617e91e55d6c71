//go:build !unix

package runtime

func keepDescriptors() error { return nil }
