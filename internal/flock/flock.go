// Package flock locks files between processes. The system releases a lock when
// its process dies, so a lock needs no lease and no clean-up.
package flock
