package natsserver

import (
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// The servers elect another leader of a stream when they have heard nothing of it for a random
// time between these two. NATS has 4 and 9 seconds and no option for them. With
// those a room whose leader has failed may be without progress for more than 10 seconds: the lease
// of its node ends meanwhile, too. A leader sends a heartbeat every second.
const (
	electionAfter  = 2500 * time.Millisecond
	electionBefore = 5 * time.Second
)

//go:linkname minElectionTimeout github.com/nats-io/nats-server/v2/server.minElectionTimeout
var minElectionTimeout time.Duration

//go:linkname maxElectionTimeout github.com/nats-io/nats-server/v2/server.maxElectionTimeout
var maxElectionTimeout time.Duration

// ShortenElections sets how soon the servers of this process elect leaders. It is called before
// the first one is made.
var ShortenElections = sync.OnceFunc(func() {
	minElectionTimeout, maxElectionTimeout = electionAfter, electionBefore
})
