package moot

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/natsserver"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log/jetstream"
)

// clusterRef is the content of the file cluster.json of a data folder whose rooms are in a
// cluster. It leads commands of this machine to the keys.
type clusterRef struct {
	Folder string `json:"folder"` // of this machine, as `moot cluster init` makes it
}

func (w Wiring) clusterFile() string { return filepath.Join(w.Settings.Data, "cluster.json") }

// StartCluster starts this machine's server of the cluster that folder describes, and notes
// in the data folder that its rooms are there. The caller stops the server after all
// that uses it.
func (w Wiring) StartCluster(folder string) (*natsserver.Server, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	f, err := natsserver.Read(folder)
	if err != nil {
		return nil, err
	}
	s, err := natsserver.Start(natsserver.Config{Folder: f, Dir: filepath.Join(w.Settings.Data, "nats"), Log: w.Log})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(clusterRef{Folder: folder})
	if err == nil {
		err = atomicfile.WriteDurable(w.clusterFile(), append(text, '\n'))
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// ClusterFolder returns the folder of this machine's cluster if the rooms of the data folder
// are there, "" if not.
func (w Wiring) ClusterFolder() (string, error) {
	text, err := os.ReadFile(w.clusterFile())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil // a data folder that cannot be one is refused when it is opened
	}
	var ref clusterRef
	if err == nil {
		err = json.Unmarshal(text, &ref)
	}
	if err != nil || ref.Folder == "" {
		return "", &problem.Error{
			Code: "CLUSTER-FOLDER", What: "the file that leads to the cluster of the rooms cannot be read", Where: w.clusterFile(), Err: err,
			Fix: "`moot serve --cluster FOLDER` writes it again; without the file rooms are in the data folder",
		}
	}
	return ref.Folder, nil
}

// clusterTimeout bounds a request to a cluster. The servers elect the leader of a stream
// within 4 to 9 seconds after its machine has died.
const clusterTimeout = 15 * time.Second

// openCluster opens the log in the cluster of a folder, by the network.
func openCluster(folder string, readOnly bool) (RoomLog, error) {
	f, err := natsserver.Read(folder)
	if err != nil {
		return nil, err
	}
	return openNATS(jetstream.Config{URL: f.URL(), TLS: f.TLS(), ReadOnly: readOnly, Timeout: clusterTimeout})
}
