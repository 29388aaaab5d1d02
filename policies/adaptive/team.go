package adaptive

// team is what past talks of the same team taught.
type team struct{}

func (m *model) teach(t *team) {}

func (r *room) teamFeatures() {}
