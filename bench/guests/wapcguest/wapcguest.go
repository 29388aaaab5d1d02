//go:build wasip1

// Package wapcguest is the guest's side of waPC (https://wapc.io/docs/spec/)
// for stock Go: waPC's own guest library in Go is for TinyGo.
package wapcguest

import "unsafe"

//go:wasmimport wapc __guest_request
func guestRequest(operation, payload unsafe.Pointer)

//go:wasmimport wapc __guest_response
func guestResponse(at unsafe.Pointer, size uint32)

//go:wasmimport wapc __guest_error
func guestError(at unsafe.Pointer, size uint32)

// Call fetches a request of these sizes, hands it to answer, and says what
// came of it. It returns 1, or 0 for a failure.
func Call(operation, payload uint32, answer func([]byte) ([]byte, error)) uint32 {
	op, in := make([]byte, operation+1), make([]byte, payload+1) // one more, so that there is an address
	guestRequest(unsafe.Pointer(unsafe.SliceData(op)), unsafe.Pointer(unsafe.SliceData(in)))
	out, err := answer(in[:payload])
	if err != nil {
		text := err.Error()
		guestError(unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
		return 0
	}
	guestResponse(unsafe.Pointer(unsafe.SliceData(out)), uint32(len(out)))
	return 1
}
