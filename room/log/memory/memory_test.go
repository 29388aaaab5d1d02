package memory_test

import (
	"testing"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/memory"
)

func TestConformance(t *testing.T) {
	logtest.Run(t, logtest.Engine{
		Volatile: true,
		Open:     func(testing.TB, string) log.Log { return &memory.Log{} },
	})
}
