package setupcmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A build says what this binary is.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	ABI      int    `json:"policy_abi"`
	Events   int    `json:"event_format"`
}

// newVersionCmd prints what this binary is.
func newVersionCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the policy ABI and the event format",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.EmitText(b, "moot %s%s\n%s %s, policy ABI %d, event format %d\n", b.Version, b.revision(), b.Go, b.Platform, b.ABI, b.Events)
		},
	}
}

func (b build) revision() string {
	if b.Revision == "" {
		return ""
	}
	s := fmt.Sprintf(" (%.12s, %s", b.Revision, b.Time)
	if b.Modified {
		s += ", modified"
	}
	return s + ")"
}

func thisBuild() build {
	b := build{
		Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		ABI: policy.ABI, Events: room.FormatVersion,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
