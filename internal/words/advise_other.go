//go:build !linux

package words

func advise([]byte) {}
