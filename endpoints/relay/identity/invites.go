package identity

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of Invites. The joiner is told the reason, because it has shown that
// it holds the invite.
var (
	ErrNoInvite      = errors.New("no such invite")
	ErrInviteExpired = errors.New("the invite has expired")
	ErrInviteUsed    = errors.New("the invite has been used")
)

// expiredInviteLife is how long an expired invite is kept, so that late joiners
// learn the reason.
const expiredInviteLife = 24 * time.Hour

const maxInvites = 100

// ErrInvites reports that too many invites are open.
var ErrInvites = errors.New("too many invites are open")

type storedInvite struct {
	Invite string      `json:"invite"`
	Used   []inviteUse `json:"used,omitempty"`
}

type inviteUse struct {
	ID DeviceID  `json:"id"`
	At time.Time `json:"at"`
}

type inviteFile struct {
	V       int            `json:"v"`
	Invites []storedInvite `json:"invites"`
}

// Invites is the store of the invites that this device has issued: one file
// with mode 0600, shared between processes like Peers.
type Invites struct{ file jsonFile[inviteFile] }

// OpenInvites opens the store at path. The first Add creates the file.
func OpenInvites(path string) (*Invites, error) {
	v := &Invites{file: jsonFile[inviteFile]{path: path, check: checkInvites}}
	return v, v.file.read(func(*inviteFile) {})
}

func checkInvites(f *inviteFile) error {
	if f.V != 1 || len(f.Invites) > maxInvites {
		return fmt.Errorf("version %d with %d invites is not supported", f.V, len(f.Invites))
	}
	for i, o := range f.Invites {
		in, err := ParseInvite(o.Invite)
		if err != nil || len(o.Used) > int(in.MaxUses) {
			return fmt.Errorf("invite %d is damaged", i+1)
		}
	}
	return nil
}

// Add stores an invite and removes those that expired a day ago.
func (v *Invites) Add(in Invite, now time.Time) error {
	return v.file.update(func(f *inviteFile) error {
		f.V = 1
		f.Invites = slices.DeleteFunc(f.Invites, func(o storedInvite) bool {
			old, err := ParseInvite(o.Invite)
			return err != nil || now.After(old.Expires.Add(expiredInviteLife))
		})
		if len(f.Invites) == maxInvites {
			return ErrInvites
		}
		f.Invites = append(f.Invites, storedInvite{Invite: in.String()})
		return nil
	})
}

// Lookup returns the invite with this id, even if expired or used up. Error:
// ErrNoInvite.
func (v *Invites) Lookup(id [16]byte) (in Invite, err error) {
	err = v.file.read(func(f *inviteFile) {
		if o := f.find(id); o != nil {
			in, _ = ParseInvite(o.Invite)
		}
	})
	if err == nil && in.MaxUses == 0 {
		err = ErrNoInvite
	}
	return in, err
}

// Use consumes one use of the invite for a device, and saves that before it
// returns. A device that has already used it may use it again until it expires,
// because its first attempt may have failed. Errors: ErrInviteExpired,
// ErrInviteUsed, ErrNoInvite.
func (v *Invites) Use(id [16]byte, by DeviceID, now time.Time) error {
	return v.file.update(func(f *inviteFile) error {
		o := f.find(id)
		if o == nil {
			return ErrNoInvite
		}
		in, err := ParseInvite(o.Invite)
		switch {
		case err != nil:
			return err
		case now.After(in.Expires):
			return ErrInviteExpired
		case slices.ContainsFunc(o.Used, func(u inviteUse) bool { return u.ID == by }):
			return nil
		case len(o.Used) >= int(in.MaxUses):
			return ErrInviteUsed
		}
		o.Used = append(o.Used, inviteUse{ID: by, At: now.UTC()})
		return nil
	})
}

// Remove revokes an invite.
func (v *Invites) Remove(id [16]byte) error {
	return v.file.update(func(f *inviteFile) error {
		o := f.find(id)
		if o == nil {
			return ErrNoInvite
		}
		f.Invites = slices.DeleteFunc(f.Invites, func(q storedInvite) bool { return q.Invite == o.Invite })
		return nil
	})
}

// List returns the invites that are usable at now.
func (v *Invites) List(now time.Time) (open []Invite, err error) {
	err = v.file.read(func(f *inviteFile) {
		for _, o := range f.Invites {
			if in, err := ParseInvite(o.Invite); err == nil && !now.After(in.Expires) && len(o.Used) < int(in.MaxUses) {
				open = append(open, in)
			}
		}
	})
	return open, err
}

func (f *inviteFile) find(id [16]byte) *storedInvite {
	for i := range f.Invites {
		in, err := ParseInvite(f.Invites[i].Invite)
		if err == nil && subtle.ConstantTimeCompare(in.ID[:], id[:]) == 1 {
			return &f.Invites[i]
		}
	}
	return nil
}
