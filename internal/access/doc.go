// Package access decides which requests the local server admits. It has the
// bearer tokens with their scopes, the launch codes and cookies of browsers,
// and the checks of host, origin and form that a request must pass. It knows
// no routes: package server says which scope a route needs.
package access
