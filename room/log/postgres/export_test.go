package postgres

// Freeze stops the renewal of the handle's lease until thaw is called, as if the process
// were stopped.
func (d *DB) Freeze() (thaw func()) {
	d.renewals.Stop()
	return func() { d.renewals.Reset(d.lease / 3) }
}
