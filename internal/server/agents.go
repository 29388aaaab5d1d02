package server

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/preset"
)

func (s *Server) registerAgents() {
	route(s, Admin, huma.Operation{
		OperationID: "agents", Method: http.MethodGet, Path: "/api/agents", Summary: "List the agents that a new room can have: of this machine, of the settings, and of other owners",
	}, s.agents)
}

type agentsOutput struct{ Body api.Agents }

func (s *Server) agents(ctx context.Context, _ *struct{}) (*agentsOutput, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out := &agentsOutput{api.Agents{Installed: installed(ctx), Profiles: []api.AgentProfile{}, Peers: []api.AgentPeer{}, Folder: folder, Dir: folder}}
	profiles, file := s.cfg.Host.Profiles()
	if file != "" {
		out.Body.Dir = filepath.Dir(file)
	}
	for _, p := range profiles {
		var e struct{ Kind string }
		_ = json.Unmarshal(p.Endpoint, &e) // of a profile without an endpoint there is none
		x := api.AgentProfile{Name: p.Name, Kind: e.Kind, Endpoint: p.Endpoint, Asks: []string{}}
		if p.Allow {
			x.Asks = append(x.Asks, p.Devices...)
		}
		out.Body.Profiles = append(out.Body.Profiles, x)
	}
	return out, s.addPeers(&out.Body)
}

// addPeers adds the devices of other owners, with the profiles that may ask each.
func (s *Server) addPeers(all *api.Agents) error {
	store, err := s.cfg.Host.Peers()
	if err != nil {
		return err
	}
	peers, err := store.List()
	for _, p := range peers {
		x := api.AgentPeer{Name: p.Name, Device: p.ID.String(), Asks: []string{}, Changed: !p.Changed.IsZero()}
		for _, profile := range all.Profiles {
			for _, device := range profile.Asks {
				if id, err := identity.ParseDeviceID(device); err == nil && id == p.ID {
					x.Asks = append(x.Asks, profile.Name)
				}
			}
		}
		all.Peers = append(all.Peers, x)
	}
	return err
}

// installed looks for the agents that moot knows, for all at the same time: one may be a
// server that answers late.
func installed(ctx context.Context) []api.InstalledAgent {
	presets := preset.All()
	all := make([]api.InstalledAgent, len(presets))
	var looking sync.WaitGroup
	for i, p := range presets {
		looking.Go(func() {
			x := api.InstalledAgent{Name: p.Name, Title: p.Title, Tools: p.Program() != "", Permissions: p.Permissions()}
			seat, err := p.Find(ctx)
			if err == nil {
				x.Found, x.Where, x.Endpoint = true, seat.Where, seat.Keys
			} else {
				x.Fix = api.ProblemOf(0, err).Fix
			}
			all[i] = x
		})
	}
	looking.Wait()
	return all
}

// sharedByWait is how long another owner's device may take to say what it shares.
const sharedByWait = 10 * time.Second

type sharedByOutput struct{ Body api.SharedBy }

func (s *Server) sharedBy(ctx context.Context, in *peerInput) (*sharedByOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedByWait)
	defer cancel()
	names, err := s.cfg.Host.SharedBy(ctx, in.Peer)
	if err != nil {
		return nil, err
	}
	return &sharedByOutput{api.SharedBy{Agents: names}}, nil
}
