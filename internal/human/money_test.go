package human

import "testing"

func TestMoney(t *testing.T) {
	for n, want := range map[int64]string{0: "0.00", 1: "0.000001", 34_000: "0.034", 12_500_000: "12.50", 1_000_000: "1.00", 1 << 52: "4503599627.370496"} {
		if got := Money(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
