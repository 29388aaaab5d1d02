package policy

import "unsafe"

// What the WebAssembly exports work on. The host never calls two at once.
var (
	module *Module
	inbox  []byte // where the host writes what it calls with
)

// inboxSize is what an input fits into without an allocation, mostly.
const inboxSize = 64 << 10

// maxInbox is what roompolicy_alloc grants: the largest input, and room for
// large settings.
const maxInbox = 16 << 20

// Serve makes all the policies of this module. Call it once, where package
// variables are set, because a policy module has no main. While it loads, and
// once it is configured, the module decides about a room that is made up, which
// makes the real decisions faster.
//
//	var _ = policy.Serve(policy.Named{Name: "polite", Policy: policy.Func(decide)})
//
//	func main() {}
//
// and build with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o policy.wasm .
func Serve(all ...Named) *Module {
	module = NewModule(all...)
	inbox = make([]byte, inboxSize)
	module.warm()
	return module
}

// Log keeps text in the record of the decision that is being made; a host
// keeps at most MaxLog bytes of a decision. It has no other effect.
func Log(level Level, text string) {
	if !warming {
		hostLog(int32(level), text)
	}
}

//go:wasmimport roompolicy log
func hostLog(level int32, text string)

//go:wasmexport roompolicy_abi_1
func abi1() {}

//go:wasmexport roompolicy_alloc
func alloc(size uint32) uint32 {
	if size > maxInbox {
		return 0
	}
	if int(size) > len(inbox) {
		inbox = make([]byte, size)
	}
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(inbox))))
}

//go:wasmexport roompolicy_configure
func configure(_, size uint32) uint32 {
	if module == nil || int(size) > len(inbox) {
		return 0
	}
	text := inbox[:size:size]
	inbox = make([]byte, inboxSize) // the settings stay where they are
	if err := module.Configure(text); err != nil {
		Log(Error, err.Error())
		return 0
	}
	module.warm()
	return 1
}

//go:wasmexport roompolicy_decide
func decide(_, size uint32) uint64 {
	if module == nil || int(size) > len(inbox) {
		return 0
	}
	out := module.Decide(inbox[:size])
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(out))))<<32 | uint64(len(out))
}
