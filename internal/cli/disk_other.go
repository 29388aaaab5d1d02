//go:build !linux && !darwin && !freebsd

package cli

import "errors"

func freeBytes(string) (int64, error) { return 0, errors.New("not known on this system") }
