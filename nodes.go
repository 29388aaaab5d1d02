package moot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// This file is about a Host that shares its log with others, to which it hands over rooms.
// It serves the moot command, and is no part of the stable interface.

// A Node tells a Host which rooms it runs.
type Node interface {
	Owns(room string) bool // whether a room belongs here
	Device() string        // of this node; "" is none
	OwnsDevice() bool      // whether no other node is to be online as that device
}

// join makes the Host a node, if its wiring says so.
func (h *Host) join() (err error) {
	if h.wiring.Node == nil {
		return nil
	}
	members, ok := h.log.(log.Members)
	if !ok {
		return &problem.Error{
			Code: "NODE-LOG", What: "nodes share a log, and the rooms are in files of the data folder", Where: h.wiring.Settings.Data,
			Fix: "keep the rooms on servers: set log.url, or --log postgres://host/db; or leave --node out, and one process runs all rooms",
		}
	}
	h.node, err = h.wiring.Node(members, h.deviceOf)
	return err
}

// A movedRoom says how a room runs that another node goes on with.
type movedRoom struct {
	Headless   bool `json:"headless,omitempty"`
	Unattended bool `json:"unattended,omitempty"`
	Foreground bool `json:"foreground,omitempty"`
	Trusted    bool `json:"trusted,omitempty"`
}

// Movable lists the rooms that are loaded and that another node could run.
func (h *Host) Movable() []string {
	var ids []string
	for _, r := range h.rooms.Movable() {
		ids = append(ids, r.ID())
	}
	return ids
}

// Release unloads a room so that another node goes on with it. It waits for the turn that is
// in flight, until ctx ends. It returns what Adopt is given there.
func (h *Host) Release(ctx context.Context, id string) ([]byte, error) {
	o, err := h.rooms.Release(ctx, id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	trusted := h.trusted[id]
	h.mu.Unlock()
	return json.Marshal(movedRoom{Headless: o.Headless, Unattended: o.Unattended, Foreground: o.Foreground, Trusted: trusted})
}

// Adopt opens a room that another node has released, and goes on with it.
func (h *Host) Adopt(ctx context.Context, id string, options []byte) error {
	var m movedRoom
	if err := json.Unmarshal(options, &m); err != nil {
		return fmt.Errorf("reading how room %s runs: %w", id, err)
	}
	if m.Trusted {
		h.trust(id)
	}
	if err := h.checkLoadable(ctx, id); err != nil {
		return err
	}
	_, err := h.rooms.Open(ctx, id, coordinator.RunOptions{Headless: m.Headless, Unattended: m.Unattended, Foreground: m.Foreground})
	return err
}

// DropLost unloads the rooms that another process has taken. The caller calls it when this process may
// have lost its lease.
func (h *Host) DropLost(ctx context.Context) {
	members, ok := h.log.(log.Members)
	if !ok {
		return
	}
	for _, r := range h.rooms.Movable() {
		if by, err := members.HeldBy(ctx, r.ID()); err == nil && by != members.Self() {
			h.rooms.Drop(r.ID())
		}
	}
}

// deviceOf returns the [Spec.Device] of a room, "" for none. That of another node's room is as
// the log had it when the room was made, unless a session of another owner got a seat from this
// node later. Where it is wrong and this node opens the room, admit refuses and notes it.
func (h *Host) deviceOf(id string) string {
	if r, ok := h.rooms.Running(id); ok {
		return r.Spec().Device
	}
	h.mu.Lock()
	device, known := h.devices[id]
	h.mu.Unlock()
	if known {
		return device
	}
	device, err := firstDevice(h.log, id)
	if err != nil {
		return ""
	}
	if device == "" && h.mayBeHeld(id) {
		device = h.node.Device()
	}
	h.noteDevice(id, device)
	return device
}

// DeviceOf returns what reads the [Spec.Device] of a new room in a log. The device of a room that
// cannot be read is "".
func DeviceOf(l RoomLog) func(room string) string {
	return func(id string) string {
		device, _ := firstDevice(l, id)
		return device
	}
}

// firstDevice reads the device of a room from its first event. Reading its state would be too
// slow for the thousands of rooms of other nodes.
func firstDevice(l log.Reader, id string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	first, err := l.Read(ctx, id, log.Pos{}, 1)
	if err != nil || len(first) == 0 {
		return "", err
	}
	opened, _ := first[0].Event.Body.(room.Opened)
	return opened.Spec.Device, nil
}

// readTimeout bounds a read of the log by callers that have no context.
const readTimeout = 5 * time.Second

// deviceReads is how many rooms readDevices reads at the same time.
const deviceReads = 16

// readDevices notes the devices of rooms for deviceOf, and forgets those of other rooms.
func (h *Host) readDevices(rooms []string) {
	known := make(map[string]string, len(rooms))
	h.mu.Lock()
	for _, id := range rooms {
		if device, ok := h.devices[id]; ok {
			known[id] = device
		}
	}
	h.devices = known
	h.mu.Unlock()
	var reading sync.WaitGroup
	next := make(chan string)
	for range deviceReads {
		reading.Go(func() {
			for id := range next {
				h.deviceOf(id)
			}
		})
	}
	for _, id := range rooms {
		next <- id
	}
	close(next)
	reading.Wait()
}

func (h *Host) noteDevice(room, device string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.devices == nil {
		h.devices = map[string]string{}
	}
	h.devices[room] = device
}

// errOtherDevice is the kind of the error about a room of a device that this node does not have.
var errOtherDevice = errors.New("moot: room is known by another device")

// admit refuses a room that the owners of other devices do not know by the device of this node:
// they would not answer it.
func (h *Host) admit(s *room.State) error {
	if h.node == nil {
		return nil
	}
	h.noteDevice(s.Spec.Room, s.Spec.Device)
	if device := s.Spec.Device; device != "" && device != h.node.Device() {
		return &problem.Error{
			Code: "NODE-DEVICE", What: "owners of other devices know the room by the device " + device + ", which this node does not have", Where: "room " + s.Spec.Room,
			Fix: "start the node whose data folder has the keys of that device; the room waits for it", Kind: errOtherDevice,
		}
	}
	return nil
}

// YieldDevice goes offline if another node is to be online as this device and no room here needs
// the connection. A relay would end it, and a later one would wait before it competes.
func (h *Host) YieldDevice() {
	if h.node == nil || h.node.OwnsDevice() || h.connection() == nil {
		return
	}
	for _, r := range h.rooms.Movable() {
		if r.Spec().Device != "" {
			return
		}
	}
	h.remote.close()
}

// ReclaimDevice connects to the relays again at once if this node is to be online as this device
// and they have let another process in since. It is called when nodes have come or gone, and now
// and then: without it the device would be offline for up to a minute.
func (h *Host) ReclaimDevice() {
	if c := h.connection(); c != nil && h.node != nil && h.node.OwnsDevice() {
		c.Reclaim()
	}
}

// stay has a room of a node run by nodes with this device from now on, because the owner of
// another device is invited to a seat.
func (h *Host) stay(ctx context.Context, id, seat string) error {
	if h.node == nil {
		return nil
	}
	_, err := h.rooms.Do(ctx, id, Command{Actor: seat, Do: room.Present{Participant: seat, Host: h.node.Device()}})
	if err == nil {
		h.noteDevice(id, h.node.Device())
	}
	if errors.Is(err, log.ErrLocked) || errors.Is(err, coordinator.ErrMoved) {
		return &problem.Error{
			Code: "RELAY-ONLINE", What: "another node runs the room, and this device is online here", Where: "room " + id,
			Fix: "run the command on the machine of that node: `moot ls` names it", Err: err,
		}
	}
	return err
}

// known notes in a new room by which device the owners of other devices know it. A node that is
// not online as that device refuses, and the one that is makes the room.
func (h *Host) known(d *description) error {
	remote := func(p Participant) bool { return config.Remote(p) }
	if h.node == nil || len(d.spec.Observers) == 0 && !slices.ContainsFunc(d.participants, remote) && !slices.ContainsFunc(d.spec.Agents, remote) {
		return nil
	}
	d.spec.Device = h.node.Device()
	if h.node.OwnsDevice() {
		return nil
	}
	return &problem.Error{
		Code: "ROOM-MOVED", What: "another node is online as this device, and makes rooms with seats of other owners", Where: "device " + d.spec.Device,
		Fix: "send the request again", Kind: coordinator.ErrMoved,
	}
}

// owner names this process in logs.
func owner() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}
