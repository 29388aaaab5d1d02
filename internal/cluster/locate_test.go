package cluster

import "testing"

// TestLocator checks the nodes of rooms as lists name them.
func TestLocator(t *testing.T) {
	if at, err := Locator(t.Context(), struct{}{}, anyDevice); at != nil || err != nil {
		t.Errorf("a log in files: %v", err)
	}
	r := newRegistry()
	if at, err := Locator(t.Context(), handle{r, "x"}, anyDevice); at != nil || err != nil {
		t.Errorf("a log without nodes: %v", err)
	}
	a, b := join(t, r, "a"), join(t, r, "b")
	until(t, "together", func() bool { return len(a.Peers()) == 1 && len(b.Peers()) == 1 })
	at, err := Locator(t.Context(), handle{r, "x"}, anyDevice)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range rooms(20) {
		if p, _ := a.Owner(id); at(t.Context(), id) != p.Address {
			t.Errorf("room %s is at %s", id, at(t.Context(), id))
		}
	}
	r.hold("r_1", "b")
	r.hold("r_2", "a run")
	if x, y := at(t.Context(), "r_1"), at(t.Context(), "r_2"); x != b.Self().Address || y != "" {
		t.Errorf("rooms that are held are at %q and %q", x, y)
	}
}

// anyDevice is the device of rooms that run at each node.
func anyDevice(string) string { return "" }
