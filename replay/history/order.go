package history

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// shuffleSeed is one half of the seed of every order of seats.
const shuffleSeed = 20_261_123

// order puts the participants into an order that depends neither on their IDs
// nor on who speaks first: a random one (Fisher and Yates, 1938), drawn from the
// name of the conversation. With byte order of the IDs, a policy that takes
// equals in the order of its input would get other figures after a renaming.
func (m *merger) order() {
	place := map[string]int{}
	for i, id := range m.speakers {
		place[id] = i
	}
	last := len(place)
	placeOf := func(p Participant) int {
		if i, ok := place[p.ID]; ok {
			return i
		}
		return last
	}
	m.participants = slices.Clone(m.participants)
	slices.SortStableFunc(m.participants, func(a, b Participant) int { return placeOf(a) - placeOf(b) })
	name := fnv.New64a()
	_, _ = name.Write([]byte(m.id)) // never fails
	random := rand.New(rand.NewPCG(shuffleSeed, name.Sum64()))
	random.Shuffle(len(m.participants), func(i, j int) {
		m.participants[i], m.participants[j] = m.participants[j], m.participants[i]
	})
}

// addSpeaker counts a turn of the participant id.
func (m *merger) addSpeaker(id string) {
	if m.merged > 0 && m.lastSpeaker == id {
		return
	}
	m.merged++
	m.lastSpeaker = id
	if m.spoke == nil {
		m.spoke = map[string]bool{}
	}
	if !m.spoke[id] {
		m.spoke[id] = true
		m.speakers = append(m.speakers, id)
	}
}
