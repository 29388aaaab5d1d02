package room

// index files a message: under everybody when everybody may read it, else
// under each seat that may.
func (s *State) index(e Event, m Message, from *Seat) {
	sender := int16(-1)
	if from != nil {
		sender = from.Index
	}
	n := place(s.Messages.N)
	s.Messages.push(msg{Seq: e.Seq, Tokens: int32(estimate(m.Text)), From: sender})
	if Audience(m).Everybody() {
		s.Public.push(n)
		s.Counts[sender+1]++
	} else {
		for _, x := range s.Seats {
			if Audience(m).Includes(x.ID) {
				x.Private.push(n)
				x.Counts[sender]++
			}
		}
	}
	s.follow(sender)
}

// waiting is a message in a seat's inbox.
type waiting struct {
	Seq    int64
	Urgent bool
}

// maxInbox bounds what is counted as unread.
const maxInbox = 1000

// deliver counts a message as unread by the seat that it is addressed to.
func (s *State) deliver(e Event, m Message) {
	if x := s.seat(m.To); x != nil && len(x.Inbox) < maxInbox {
		x.Inbox = append(x.Inbox[:len(x.Inbox):len(x.Inbox)], waiting{e.Seq, m.Priority == "high" || m.Priority == "urgent"})
	}
}

// read empties the inbox of what the seat was handed.
func (x *Seat) read(through int64) {
	i := 0
	for i < len(x.Inbox) && x.Inbox[i].Seq <= through {
		i++
	}
	x.Inbox = x.Inbox[i:]
}

// unread counts the inbox, and of it what is urgent.
func (x *Seat) unread() (all, urgent int) {
	for _, w := range x.Inbox {
		if w.Urgent {
			urgent++
		}
	}
	return len(x.Inbox), urgent
}

// follow counts who spoke after the last speaker and after the last two.
func (s *State) follow(sender int16) {
	if sender < 0 || sender+1 == s.Speakers[0] {
		return
	}
	if s.Speakers[0] != 0 {
		s.Followed[habit(0, s.Speakers[0], sender)]++
	}
	if s.Speakers[1] != 0 && len(s.Followed) < maxHabits {
		s.Followed[habit(s.Speakers[1], s.Speakers[0], sender)]++
	}
	s.Speakers = [2]int16{sender + 1, s.Speakers[0]}
}

// maxHabits bounds the table of who follows whom.
const maxHabits = 1 << 14

func habit(before, last, next int16) uint64 {
	return uint64(uint16(before))<<32 | uint64(uint16(last))<<16 | uint64(uint16(next+1))
}

// backwards yields the messages that x may read, newest first, as far as s knows
// of them: see Shorten.
func (s *State) backwards(x *Seat, yield func(msg) bool) {
	i, j := s.Public.N-1, x.Private.N-1
	for i >= s.Public.gone || j >= x.Private.gone {
		var n place
		if j < x.Private.gone || i >= s.Public.gone && s.Public.at(i) > x.Private.at(j) {
			n = s.Public.at(i)
			i--
		} else {
			n = x.Private.at(j)
			j--
		}
		if int(n) < s.Messages.gone || !yield(s.Messages.at(int(n))) {
			return
		}
	}
}

// heardAll is how many messages x may read in all.
func (s *State) heardAll(x *Seat) int {
	n := 0
	for i := -1; i < len(s.Seats); i++ {
		n += s.heard(x, int16(i))
	}
	return n
}

// heard is how many messages of a sender x may read in all.
func (s *State) heard(x *Seat, sender int16) int {
	return int(x.Counts[sender]) + int(s.Counts[sender+1])
}
