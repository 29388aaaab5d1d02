package api

import (
	"time"

	"github.com/folkmoot/moot/internal/access"
)

// A NewToken asks for a token.
type NewToken struct {
	Name    string `json:"name" minLength:"1" maxLength:"100" doc:"Whose token it is, for people"`
	Scope   string `json:"scope" enum:"read,talk,control,admin" doc:"What its bearer may do"`
	Room    string `json:"room,omitempty" maxLength:"128" doc:"The only room that its bearer may use"`
	Seat    string `json:"seat,omitempty" maxLength:"128" doc:"The seat of this room that its bearer acts as"`
	Expires string `json:"expires,omitempty" maxLength:"20" doc:"Its lifetime, such as 24h; without it the token does not expire"`
}

// A Token is a token that was issued by name. Token is the secret, which the server
// shows once.
type Token struct {
	Token   string       `json:"token,omitempty"`
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Scope   access.Scope `json:"scope"`
	Room    string       `json:"room,omitempty"`
	Seat    string       `json:"seat,omitempty"`
	Created time.Time    `json:"created"`
	Expires time.Time    `json:"expires,omitzero"`
	Revoked time.Time    `json:"revoked,omitzero"`
}

// TokenOf returns the form of an issued token.
func TokenOf(secret string, t access.Issued) Token {
	return Token{
		Token: secret, ID: t.ID, Name: t.Name, Scope: t.Scope, Room: t.Room, Seat: t.Seat,
		Created: t.Created, Expires: t.Expires, Revoked: t.Revoked,
	}
}

// A NewLaunch asks for a launch code.
type NewLaunch struct {
	Scope string `json:"scope,omitempty" enum:"read,talk,control,admin" doc:"What the browser may do; without it what the caller may"`
}

// A Launch is an address that signs a browser in, once.
type Launch struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// A LaunchCode is what a browser signs in with: the code of a launch address, or the
// token of a spectator.
type LaunchCode struct {
	Code  string `json:"code,omitempty" maxLength:"100"`
	Token string `json:"token,omitempty" maxLength:"1000"`
}

// A Launched browser is signed in.
type Launched struct {
	Room string `json:"room,omitempty" doc:"The only room that it may show"`
}
