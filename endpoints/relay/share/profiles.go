package share

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// Add shares more agents, from now on. It starts one agent of each profile for
// its next room, and greets the devices that may ask. It shares none of them
// if a profile is shared already.
func (s *Share) Add(agents []AgentConfig) error {
	s.mu.Lock()
	added, err := s.add(agents)
	running := s.dispatcher != nil && !s.ended
	if running {
		s.run(added)
	}
	s.mu.Unlock()
	if running {
		s.greet(added)
	}
	return err
}

// add adds profiles. The caller holds mu.
func (s *Share) add(agents []AgentConfig) (added []*sharedProfile, err error) {
	for _, a := range agents {
		if s.profiles[a.Profile.Name] != nil {
			return nil, &problem.Error{Code: "SHARE-TWICE", What: fmt.Sprintf("profile %s is shared already", a.Profile.Name), Fix: "name the profiles to share in addition, or end the other share"}
		}
	}
	for _, a := range agents {
		if a.Timeout <= 0 {
			a.Timeout = defaultTimeout
		}
		p := &sharedProfile{AgentConfig: a, log: s.cfg.Log, slot: make(chan struct{}, 1), prepared: make(chan struct{}), agents: map[string]*runningAgent{}}
		s.profiles[a.Profile.Name] = p
		added = append(added, p)
	}
	return added, nil
}

// run lets profiles start agents, and starts the standby of those that may be
// called. The caller holds mu.
func (s *Share) run(profiles []*sharedProfile) {
	for _, p := range profiles {
		p.ctx, p.stop = context.WithCancel(s.ctx)
		p.work = &s.wg
		if !p.Profile.Allow || len(p.Profile.Devices) == 0 {
			close(p.prepared)
			continue
		}
		begun, err := p.prepare()
		if err != nil {
			s.logFailure(p.Profile.Name, err)
			close(p.prepared)
			continue
		}
		s.wg.Go(func() {
			defer close(p.prepared)
			<-begun.done
		})
	}
}

// greet tells the devices that may call profiles that this device is here.
func (s *Share) greet(profiles []*sharedProfile) {
	greeted := map[identity.DeviceID]bool{}
	for _, p := range profiles {
		for _, id := range p.Profile.Devices {
			if p.Profile.Allow && !greeted[id] {
				greeted[id] = true
				s.dispatcher.Greet(id)
			}
		}
	}
}

// Remove ends the share of profiles: requests in progress are answered with
// "interrupted", later ones are refused, and their agents are closed. It waits
// for that. It must not be called before Begin.
func (s *Share) Remove(names ...string) {
	for _, p := range s.take(names) {
		p.stop()
		p.slot <- struct{}{} // its last prompt has ended, and no other begins
		p.close()
	}
}

// take removes profiles, and cancels their requests.
func (s *Share) take(names []string) (taken []*sharedProfile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if p := s.profiles[name]; p != nil && !s.ended {
			taken = append(taken, p)
			delete(s.profiles, name)
		}
	}
	for _, r := range s.running {
		if slices.Contains(names, r.env.Profile) {
			r.cancel(errUnshared)
		}
	}
	return taken
}

// shared returns the profiles that are shared now.
func (s *Share) shared() []*sharedProfile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.profiles))
}

// AwaitPrepared returns when one agent of each of the profiles is ready for its
// first room, or has failed, which is logged, or when ctx ends.
func (s *Share) AwaitPrepared(ctx context.Context, names ...string) error {
	for _, p := range s.shared() {
		if !slices.Contains(names, p.Profile.Name) {
			continue
		}
		select {
		case <-p.prepared:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
