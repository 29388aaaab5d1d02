package ndjson

import (
	"encoding/json"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A permissionRequest is what an agent asks of its owner before it acts.
type permissionRequest struct {
	RequestID    string   `json:"request_id"` // of the turn; may be empty
	PermissionID string   `json:"permission_id"`
	Kind         string   `json:"kind"`
	Title        string   `json:"title"`
	Command      string   `json:"command"`
	Argv         []string `json:"argv"`
	Paths        []string `json:"paths"`
	Detail       string   `json:"detail"`
	Always       bool     `json:"always"`
}

// A permissionReply is the answer to a permissionRequest.
type permissionReply struct {
	Type         string `json:"type"`
	PermissionID string `json:"permission_id"`
	Allowed      bool   `json:"allowed"`
	Always       bool   `json:"always"`
	Reason       string `json:"reason"`
}

// maxPermissionID bounds the id of a permission request, in bytes.
const maxPermissionID = 200

// permit asks the owner for a permission, while the clock of the turn stands. A
// request outside a turn breaks the protocol. A second request may be made before
// the first is answered.
func (w *wire) permit(raw []byte) {
	var q permissionRequest
	if err := json.Unmarshal(raw, &q); err != nil {
		w.signals.Violation("bad_frame", "a permission request cannot be read: "+describe(err))
		return
	}
	if q.PermissionID == "" || len(q.PermissionID) > maxPermissionID {
		w.signals.Violation("bad_frame", "a permission request without a permission_id of at most 200 bytes")
		return
	}
	w.mu.Lock()
	x := w.requests.Open()
	w.mu.Unlock()
	if x == nil || x.Prompt.Kind == endpoint.Bid || q.RequestID != "" && q.RequestID != x.Prompt.Request {
		broken := endpoint.Signal{Kind: endpoint.SignalViolation, Code: "permission", Detail: "a permission request outside the turn that it is for"}
		w.signals.Ask(broken, func(endpoint.Answer, error) {
			w.permitted(q, endpoint.Answer{Reason: "permissions are given in a turn only"}, nil)
		})
		return
	}
	p := endpoint.Permission{
		ID: q.PermissionID, Kind: q.Kind, Title: q.Title, Command: q.Command, Argv: q.Argv, Paths: q.Paths, Detail: q.Detail, Always: q.Always, Dir: w.dir,
	}
	release := endpoint.Hold(x.Context)
	w.signals.CallContext(x.Context, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &p}, func(a endpoint.Answer, err error) {
		release()
		w.permitted(q, a, err)
	})
}

// permitted sends the agent the answer of its owner.
func (w *wire) permitted(q permissionRequest, a endpoint.Answer, err error) {
	v := permissionReply{Type: typePermissionReply, PermissionID: q.PermissionID, Allowed: a.Allowed && err == nil, Reason: a.Reason}
	v.Always = v.Allowed && a.Always
	if err != nil {
		v.Reason = "the turn has ended"
	}
	w.reply(v)
}
