package replay

import (
	"sync"

	"github.com/folkmoot/moot/replay/history"
)

// Progress says how far a replay is, in decisions of all policies.
type Progress struct {
	Made  int
	Total int  // of the whole replay; 0 while it is not known
	Exact bool // Total is no estimate
}

// A meter measures the progress of a replay. The work on a transcript is measured
// by its size, see [history.Transcript.Size].
type meter struct {
	Config
	policies int
	sample   *sample

	mu         sync.Mutex // also guards calls of Progress
	made       int
	done       float64 // of the sizes
	size       float64 // of the transcripts that have been read
	estimated  bool    // size counts events
	unknown    bool    // the size of a transcript is not known
	everything bool    // all transcripts have been read
}

// add notes the next transcript and returns its size.
func (m *meter) add(t history.Transcript) (size int, err error) {
	if m.Progress == nil {
		return 0, nil
	}
	if size, err = t.Size(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += float64(size)
	m.estimated = m.estimated || t.Conversation == nil || m.Simulate
	m.unknown = m.unknown || size == 0 && t.Conversation == nil
	return size, nil
}

// end notes that all transcripts have been read. The last decision may have been made before.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.everything = true
	if m.Progress != nil && m.made > 0 {
		m.Progress(m.progress())
	}
}

// advance notes decisions and the part of a transcript that they took.
func (m *meter) advance(decisions int, size float64) {
	if m.Progress == nil || decisions == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made += decisions
	m.done += size
	m.Progress(m.progress())
}

// progress estimates the total: as many decisions for each unit of size as so far, and
// as many units for each part of the source.
func (m *meter) progress() Progress {
	p := Progress{Made: m.made}
	share := 1.0
	if !m.everything {
		share = 0
		if m.Read != nil {
			share = m.Read()
		}
	}
	switch {
	case m.sample != nil:
		p.Total, p.Exact = m.sample.size*m.policies, true
	case m.unknown || share <= 0 || m.done <= 0:
		return p
	case m.everything && !m.estimated:
		p.Total, p.Exact = int(m.size)*m.policies, true
	default:
		p.Total = int(float64(m.made) / m.done * m.size / share)
	}
	p.Total = max(p.Total, p.Made)
	return p
}
