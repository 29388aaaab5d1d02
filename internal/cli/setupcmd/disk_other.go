//go:build !linux && !darwin && !freebsd

package setupcmd

import "errors"

func freeBytes(string) (int64, error) { return 0, errors.New("not known on this system") }
