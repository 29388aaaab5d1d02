package servecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cluster"
	"github.com/folkmoot/moot/internal/natsserver"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// newClusterCmd makes what the machines of a cluster need.
func newClusterCmd(a *commands) *cobra.Command {
	var renew bool
	initialize := &cobra.Command{
		Use:   "init DIR NAME=HOST[:PORT]...",
		Short: "Make the folders of the machines of a cluster, with their keys",
		Long: "init makes a folder for each machine of a new cluster below DIR. Copy it to its machine,\n" +
			"and start `moot serve --cluster FOLDER` there. The machines keep all rooms together: each\n" +
			"of three has everything, and one may fail.\n\n" +
			fmt.Sprintf("A machine uses three TCP ports, PORT (%d) and the next two. Only holders of the keys can\n", natsserver.DefaultPort) +
			"connect to them: a folder is as secret as the rooms. DIR itself has the authority that\n" +
			"signed the certificates, which is needed for --renew only. They are valid for ten years.",
		Example: "  moot cluster init keys one=10.0.0.1 two=10.0.0.2 three=10.0.0.3\n  moot cluster init keys one=10.0.0.1 two=10.0.0.2 three=10.0.0.3 --renew",
		Args:    cobra.MinimumNArgs(2),
		RunE:    func(_ *cobra.Command, args []string) error { return a.clusterInit(args[0], args[1:], renew) },
	}
	initialize.Flags().BoolVar(&renew, "renew", false, "make new certificates by the authority in DIR; the old ones remain valid")
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Prepare several machines that keep all rooms together",
	}
	return a.Group(cmd, initialize)
}

// A MachineFolder is a folder of a machine that was made.
type MachineFolder struct {
	Machine string `json:"machine"`
	Folder  string `json:"folder"`
}

func (a *commands) clusterInit(dir string, args []string, renew bool) error {
	machines := make([]natsserver.Machine, len(args))
	made := make([]MachineFolder, len(args))
	var text strings.Builder
	for i, arg := range args {
		m, err := natsserver.ParseMachine(arg)
		if err != nil {
			return err
		}
		machines[i], made[i] = m, MachineFolder{m.Name, filepath.Join(dir, m.Name)}
		fmt.Fprintf(&text, "%s\n", made[i].Folder)
	}
	if err := natsserver.Init(dir, machines, renew); err != nil {
		return err
	}
	if err := a.EmitText(made, "%s", text.String()); err != nil {
		return err
	}
	a.Note("copy each folder to its machine, and run there: moot serve --cluster FOLDER")
	return nil
}

// checkPlace refuses settings that name two places for the rooms.
func (a *commands) checkPlace(cmd *cobra.Command, folder string) error {
	if folder != "" && a.Settings.LogURL != "" {
		return app.Usagef(cmd, "the rooms are either in the cluster of --cluster or at the setting log.url (--log, MOOT_LOG), not both")
	}
	if folder != "" || a.Settings.LogURL != "" {
		return nil
	}
	folder, err := a.Wiring().ClusterFolder()
	if err != nil || folder == "" {
		return err
	}
	return &problem.Error{
		Code: "CLUSTER-FLAG", What: "the rooms of this data folder are in a cluster, and --cluster was not given", Where: filepath.Join(a.Settings.Data, "cluster.json"),
		Fix: "run `moot serve --cluster " + folder + "`, or remove the file to use the rooms of the data folder",
	}
}

// pollInterval is how often a start asks whether other machines have come.
const pollInterval = 200 * time.Millisecond

// startCluster starts the server of this machine, and returns when the cluster keeps rooms.
// It returns nil and no error if ctx ends before.
func (a *commands) startCluster(ctx context.Context, folder string) (*natsserver.Server, error) {
	w := a.Wiring()
	s, err := w.StartCluster(folder)
	if err != nil {
		return nil, err
	}
	if err := a.awaitCluster(ctx, s); err != nil {
		s.Stop()
		if ctx.Err() != nil {
			err = nil
		}
		return nil, err
	}
	return s, nil
}

// awaitCluster waits for a majority of the machines, and until the log can be opened.
func (a *commands) awaitCluster(ctx context.Context, s *natsserver.Server) error {
	a.Note("cluster %s, at %s", s.Self.Name, s.Self.Host)
	w := a.Wiring()
	w.Cluster = s
	said, tries := "", 0
	say := func(format string, args ...any) {
		if now := fmt.Sprintf(format, args...); now != said {
			said = now
			a.Note("%s", now)
		}
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if missing, needed := s.Missing(); needed > 0 {
			say("waits for %d of %d other machines: %s%s", needed, len(missing), strings.Join(missing, ", "), refusal(s))
		} else if err := reaches(w); !errors.Is(err, log.ErrBusy) && !notYet(err) {
			return err
		} else if tries++; tries > 1 {
			say("waits for the machines to agree%s", firstStart(missing))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-s.Failed():
			return err
		case <-ticker.C:
		}
	}
}

// endingTime bounds how long a machine keeps its server for others that are about to end.
const endingTime = time.Minute

// stopCluster ends the server of this machine, whose rooms have ended. Other machines that end at
// the same time may still need a majority for their rooms, so it waits for those.
func (a *commands) stopCluster(w moot.Wiring) {
	ctx, cancel := context.WithTimeout(context.Background(), endingTime)
	defer cancel()
	defer w.Cluster.Stop()
	l, err := w.OpenLog(true)
	if err != nil {
		a.Log.Info("the server of the cluster ends without knowing which machines end too", "error", err)
		return
	}
	defer l.Close()
	members, ok := l.(log.Members)
	if !ok {
		return
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for anyDraining(ctx, members) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// anyDraining reports whether a node of the registry is about to end.
func anyDraining(ctx context.Context, m log.Members) bool {
	all, err := m.Members(ctx)
	return err == nil && slices.ContainsFunc(all, func(m log.Member) bool {
		var p cluster.Peer
		return json.Unmarshal([]byte(m.Info), &p) == nil && p.Draining
	})
}

// reaches opens the log, and makes it if there is none.
func reaches(w moot.Wiring) error {
	l, err := w.OpenLog(false)
	if err == nil {
		err = l.Close()
	}
	return err
}

// notYet reports whether err may pass when more machines are there. A new log needs all.
func notYet(err error) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == "LOG-NATS"
}

func firstStart(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "; the first start needs all of them, and these are missing: " + strings.Join(missing, ", ")
}

func refusal(s *natsserver.Server) string {
	if why := s.Refused(); why != "" {
		return "; a connection was refused: " + why
	}
	return ""
}
