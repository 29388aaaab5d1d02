package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// registerDevice registers what concerns this device toward other owners. All of
// it needs Admin: who pairs a device or shares an agent lets others in.
func (s *Server) registerDevice() {
	route(s, Admin, huma.Operation{OperationID: "peers", Method: http.MethodGet, Path: "/api/peers", Summary: "The devices that this one is paired with"}, s.peers)
	route(s, Admin, huma.Operation{
		OperationID: "remove-peer", Method: http.MethodDelete, Path: "/api/peers/{peer}", Summary: "Remove a device: it is no longer paired",
	}, s.removePeer)
	s.online = true
	defer func() { s.online = false }()
	route(s, Admin, huma.Operation{OperationID: "device", Method: http.MethodGet, Path: "/api/device", Summary: "This device and its relays"}, s.device)
	route(s, Admin, huma.Operation{
		OperationID: "shared-by", Method: http.MethodGet, Path: "/api/peers/{peer}/agents", Summary: "The agents that another owner's device shares with this one",
	}, s.sharedBy)
	route(s, Admin, huma.Operation{OperationID: "shares", Method: http.MethodGet, Path: "/api/shares", Summary: "The shares of this device"}, s.shares)
	route(s, Admin, huma.Operation{
		OperationID: "share", Method: http.MethodPost, Path: "/api/shares", Summary: "Share agents with other owners until the share is deleted", DefaultStatus: http.StatusCreated,
	}, s.share)
	s.raw(Admin, http.MethodPost, "/api/shares/held", "Share agents for as long as the response is read", s.heldShare)
	route(s, Admin, huma.Operation{OperationID: "unshare", Method: http.MethodDelete, Path: "/api/shares/{share}", Summary: "End a share"}, s.unshare)
	s.registerPairings("invites", false)
	s.registerPairings("joins", true)
	route(s, Admin, huma.Operation{
		OperationID: "invite", Method: http.MethodPost, Path: "/api/invites", Summary: "Make an invite for another device, and wait for it", DefaultStatus: http.StatusCreated,
	}, s.invite)
	route(s, Admin, huma.Operation{
		OperationID: "join", Method: http.MethodPost, Path: "/api/joins", Summary: "Use an invite of another device", DefaultStatus: http.StatusCreated,
	}, s.join)
	s.raw(Admin, http.MethodGet, "/api/watches/{peer}", "Watch a room of another owner's device: room, after, last and wait are query parameters", s.watchPeer)
	route(s, Admin, huma.Operation{
		OperationID: "say-there", Method: http.MethodPost, Path: "/api/watches/{peer}/say", Summary: "Post a message in a room of another owner's device",
	}, s.sayThere)
}

type deviceOutput struct{ Body api.Device }

func (s *Server) device(context.Context, *struct{}) (*deviceOutput, error) {
	i, err := s.cfg.Host.Device()
	if err != nil {
		return nil, err
	}
	d := api.Device{Device: i.ID, Spoken: i.Spoken, Online: i.Online, Relays: []api.Relay{}}
	for _, r := range i.Relays {
		x := api.Relay{URL: r.URL, Connected: r.Connected}
		if r.Err != nil {
			x.Error = r.Err.Error()
		}
		d.Relays = append(d.Relays, x)
	}
	return &deviceOutput{d}, nil
}

type peersOutput struct{ Body api.Peers }

func (s *Server) peers(context.Context, *struct{}) (*peersOutput, error) {
	store, err := s.cfg.Host.Peers()
	if err != nil {
		return nil, err
	}
	list, err := store.List()
	all := make([]api.Peer, len(list))
	for i, p := range list {
		all[i] = api.PeerOf(p)
	}
	return &peersOutput{api.Peers{Peers: all}}, err
}

type peerInput struct {
	Peer string `path:"peer" maxLength:"128" doc:"The name or the id of the device"`
}

type peerOutput struct{ Body api.Peer }

func (s *Server) removePeer(_ context.Context, in *peerInput) (*peerOutput, error) {
	store, err := s.cfg.Host.Peers()
	if err != nil {
		return nil, err
	}
	p, err := store.Find(in.Peer)
	if err != nil {
		return nil, err
	}
	return &peerOutput{api.PeerOf(p)}, store.Remove(p.ID)
}

func (s *Server) shareOf(x *moot.Sharing) (api.Share, error) {
	i, err := s.cfg.Host.Device()
	return api.Share{ID: x.ID, Device: i.ID, Spoken: i.Spoken, Relays: x.Relays(), Profiles: x.Profiles, Unused: x.Unused}, err
}

type sharesOutput struct{ Body api.Shares }

func (s *Server) shares(context.Context, *struct{}) (*sharesOutput, error) {
	out := &sharesOutput{api.Shares{Shares: []api.Share{}}}
	for _, x := range s.cfg.Host.Shares() {
		one, err := s.shareOf(x)
		if err != nil {
			return nil, err
		}
		out.Body.Shares = append(out.Body.Shares, one)
	}
	return out, nil
}

type shareInput struct{ Body api.ShareRequest }

type shareOutput struct{ Body api.Share }

func (s *Server) share(ctx context.Context, in *shareInput) (*shareOutput, error) {
	x, err := s.cfg.Host.Share(ctx, moot.ShareOptions(in.Body))
	if err != nil {
		return nil, err
	}
	one, err := s.shareOf(x)
	return &shareOutput{one}, err
}

type oneShareInput struct {
	Share string `path:"share" maxLength:"64"`
}

func (s *Server) unshare(_ context.Context, in *oneShareInput) (*struct{}, error) {
	for _, x := range s.cfg.Host.Shares() {
		if x.ID == in.Share {
			x.End()
			return nil, nil
		}
	}
	return nil, notFound("share", in.Share)
}

func notFound(what, id string) error {
	return api.ProblemOf(http.StatusNotFound, &problem.Error{Code: "API-NOT-FOUND", What: "there is no such " + what, Where: id, Fix: "it may have ended"})
}

// heldShare shares agents until the caller goes away, or the connection ends,
// which the last line says.
func (s *Server) heldShare(w http.ResponseWriter, r *http.Request) {
	var q api.ShareRequest
	if err := readBody(w, r, &q); err != nil {
		s.fail(w, err)
		return
	}
	out, stop := shareStream(w, r) // agents may start for a minute
	defer stop()
	fail := func(err error) { _ = out.send(api.ShareUpdate{Problem: api.ProblemOf(0, err)}) }
	x, err := s.cfg.Host.Share(r.Context(), moot.ShareOptions(q))
	if err != nil {
		fail(err)
		return
	}
	defer x.End()
	one, err := s.shareOf(x)
	if err != nil {
		fail(err)
		return
	}
	_ = out.send(api.ShareUpdate{Share: &one}) // a caller who has gone ends the request
	select {
	case <-r.Context().Done():
	case <-x.Done():
		if err := x.Err(); err != nil {
			fail(err)
		}
	}
}

type pairingsOutput struct{ Body api.Pairings }

type pairingInput struct {
	Pairing string `path:"pairing" maxLength:"64"`
	After   int    `query:"after" minimum:"0" doc:"Answer once the version is above this"`
	Wait    string `query:"wait" maxLength:"20" doc:"How long to wait for that, such as 25s; at most 1m"`
}

type pairingOutput struct{ Body api.Pairing }

type pairingAnswerInput struct {
	Pairing string `path:"pairing" maxLength:"64"`
	Body    api.PairingAnswer
}

// maxPairingWait bounds one poll.
const maxPairingWait = time.Minute

// registerPairings registers what invites and joins have in common.
func (s *Server) registerPairings(name string, joining bool) {
	path := "/api/" + name
	find := func(id string) (*moot.Pairing, error) { return s.cfg.Host.Pairing(joining, id) }
	route(s, Admin, huma.Operation{OperationID: name, Method: http.MethodGet, Path: path, Summary: "The " + name + " of this device"},
		func(context.Context, *struct{}) (*pairingsOutput, error) {
			out := &pairingsOutput{api.Pairings{Pairings: []api.Pairing{}}}
			for _, p := range s.cfg.Host.Pairings(joining) {
				out.Body.Pairings = append(out.Body.Pairings, api.PairingOf(p.ID, p.Pairing, p.State()))
			}
			return out, nil
		})
	route(s, Admin, huma.Operation{OperationID: "poll-" + name, Method: http.MethodGet, Path: path + "/{pairing}", Summary: "How far a pairing is, once it has changed"},
		func(ctx context.Context, in *pairingInput) (*pairingOutput, error) {
			p, err := find(in.Pairing)
			if err != nil {
				return nil, err
			}
			wait, err := duration(in.Wait, maxPairingWait)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			state, _ := p.Next(ctx, in.After) // the state of now is an answer too
			return &pairingOutput{api.PairingOf(p.ID, p.Pairing, state)}, nil
		})
	route(s, Admin, huma.Operation{OperationID: "answer-" + name, Method: http.MethodPost, Path: path + "/{pairing}/answer", Summary: "Answer whether to pair with a device"},
		func(_ context.Context, in *pairingAnswerInput) (*pairingOutput, error) {
			p, err := find(in.Pairing)
			if err != nil {
				return nil, err
			}
			if err := p.Answer(in.Body.Digits, in.Body.Accept); err != nil {
				return nil, err
			}
			return &pairingOutput{api.PairingOf(p.ID, p.Pairing, p.State())}, nil
		})
	route(s, Admin, huma.Operation{OperationID: "end-" + name, Method: http.MethodDelete, Path: path + "/{pairing}", Summary: "End a pairing that is not over, and forget it"},
		func(_ context.Context, in *pairingInput) (*struct{}, error) {
			p, err := find(in.Pairing)
			if err == nil {
				s.cfg.Host.Forget(p)
			}
			return nil, err
		})
}

type inviteInput struct{ Body api.InviteRequest }

// maxInviteLife is how long an invite can be used at most.
const maxInviteLife = 24 * time.Hour

func (s *Server) invite(ctx context.Context, in *inviteInput) (*pairingOutput, error) {
	grant, _ := identity.ParseGrant(in.Body.Grant) // the schema has checked it; "" is the default
	expires, err := duration(in.Body.Expires, maxInviteLife)
	if err != nil {
		return nil, err
	}
	p, err := s.cfg.Host.Invite(ctx, device.InviteOptions{
		Relay: in.Body.Relay, Name: in.Body.Name, Grant: grant, Room: in.Body.Room, Seat: in.Body.Seat, Auto: in.Body.Auto, Expires: expires,
	})
	if err != nil {
		return nil, err
	}
	return &pairingOutput{api.PairingOf(p.ID, p.Pairing, p.State())}, nil
}

type joinInput struct{ Body api.JoinRequest }

func (s *Server) join(ctx context.Context, in *joinInput) (*pairingOutput, error) {
	invite, err := device.ParseInvite(in.Body.Invite)
	if err != nil {
		return nil, err
	}
	p, err := s.cfg.Host.Join(ctx, invite, device.JoinOptions{Name: in.Body.Name, Yes: in.Body.Yes})
	if err != nil {
		return nil, err
	}
	return &pairingOutput{api.PairingOf(p.ID, p.Pairing, p.State())}, nil
}

// duration reads a duration above 0 and up to most. "" is 0.
func duration(text string, most time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		return 0, api.ProblemOf(http.StatusUnprocessableEntity, &problem.Error{Code: "API-REQUEST", What: "a duration cannot be used", Where: text, Fix: "write it like 25s; it is at most " + most.String()})
	}
	return d, nil
}

// maxRequest bounds the body of a request whose handler reads it.
const maxRequest = 1 << 20

// readBody reads the body of a request strictly.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return api.ProblemOf(http.StatusBadRequest, &problem.Error{Code: "API-REQUEST", What: "the body cannot be read", Fix: "`moot schema openapi` describes the requests", Err: err})
	}
	return nil
}
