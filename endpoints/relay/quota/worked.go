package quota

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/flock"
)

// A workday holds how long agents have worked for other devices on one day.
type workday struct {
	Day    string                   `json:"day"` // UTC, such as 2006-01-02
	Worked map[string]time.Duration `json:"worked_ns"`
}

// Worked returns how long the agent of a profile has worked for a device today, in
// UTC. Its error wraps endpoint.ErrLimited: the file cannot be read.
func (q *Quota) Worked(p Profile, with identity.DeviceID) (d time.Duration, err error) {
	err = q.changeWorkday(func(w *workday) bool {
		d = w.Worked[workKey(p, with)]
		return false
	})
	return d, err
}

// AddWork adds to the time that the agent of a profile has worked for a device
// today. Its error wraps endpoint.ErrLimited: the file cannot be written.
func (q *Quota) AddWork(p Profile, with identity.DeviceID, d time.Duration) error {
	return q.changeWorkday(func(w *workday) bool {
		w.Worked[workKey(p, with)] += max(0, d)
		return true
	})
}

func workKey(p Profile, with identity.DeviceID) string {
	return wire.ShortHash(p.Name) + " " + with.String()
}

// changeWorkday calls change with the work of today, and stores it if change
// returns true. A clock that is set back to an earlier day begins no new day.
func (q *Quota) changeWorkday(change func(*workday) bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	unlock, err := flock.Lock(filepath.Join(q.dir, "worked.lock"))
	if err != nil {
		return fileError(err)
	}
	defer unlock()
	path := filepath.Join(q.dir, "worked.json")
	var w workday
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	if today := q.now().UTC().Format(time.DateOnly); today > w.Day {
		w = workday{Day: today}
	}
	if w.Worked == nil {
		w.Worked = map[string]time.Duration{}
	}
	if !change(&w) {
		return nil
	}
	if b, err = json.Marshal(w); err == nil {
		err = atomicfile.Write(path, b)
	}
	if err != nil {
		return fileError(err)
	}
	return nil
}
