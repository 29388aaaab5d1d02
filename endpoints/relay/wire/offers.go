package wire

import (
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
)

// MaxOffers bounds the profiles of an Offered.
const MaxOffers = 64

// An Offered is the body of the answer to an offers message: the profiles that the
// device shares with the one that asks.
type Offered struct {
	Profiles []string `json:"profiles"`
	Messages bool     `json:"messages,omitempty"` // it knows typed messages; only in the answer to an OffersQuery that asks
}

// Check returns an error if a field of o is out of its bounds.
func (o Offered) Check() error {
	bad := func(name string) bool {
		return name == "" || len(name) > envelope.MaxName || !utf8.ValidString(name)
	}
	if len(o.Profiles) > MaxOffers || slices.ContainsFunc(o.Profiles, bad) {
		return errors.New("its profiles are out of bounds")
	}
	return nil
}
