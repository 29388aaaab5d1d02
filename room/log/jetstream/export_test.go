package jetstream

// PlaceOf returns the stream of a room.
func (d *DB) PlaceOf(room string) string {
	stream, _ := d.place(room)
	return stream
}
