package relaycmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// newDeviceCmd holds what concerns this device's keys, and devices that are not
// trusted any more.
func newDeviceCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "device",
		Short: "Protect this device's keys, replace its session key, and revoke other devices",
		Long: "A device has two keys. The device key is its name: its id, which others allow, is\n" +
			"this key. The session key encrypts, and can be replaced. Both lie in one file,\n" +
			"device/keys.json of the data folder.",
	}
	return a.Group(cmd, newDeviceSealCmd(a), newDeviceRotateCmd(a), newDeviceRevokeCmd(a))
}

// A deviceLine is the state of this device's keys.
type deviceLine struct {
	Device  string `json:"device"`
	Sealed  bool   `json:"sealed"`
	Expires string `json:"expires"` // of the session key
}

func (a *commands) showKeys(d *device.Device, sealed bool) error {
	l := deviceLine{Device: d.Self.ID().String(), Sealed: sealed, Expires: d.Self.Record().NotAfter.Format("2006-01-02")}
	return a.Emit(l, func(w io.Writer) error {
		state := "not sealed: anyone who can read the key file has the keys"
		if sealed {
			state = "sealed with a passphrase"
		}
		_, err := fmt.Fprintf(w, "device   %s\nkeys     %s\nexpires  %s   (the session key; moot replaces it a month before)\n", l.Device, state, l.Expires)
		return err
	})
}

func newDeviceSealCmd(a *commands) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Protect this device's keys with a passphrase",
		Long: "seal encrypts the key file with a passphrase (Argon2id). Commands that connect to\n" +
			"other devices then ask for it. A service reads it from the file that the setting\n" +
			"device.passphrase names. Where stdin is no terminal, the new passphrase is its\n" +
			"first line. A copy of the file from before, as in a backup, stays readable, and\n" +
			"holds the same device key.",
		Example: "  moot device seal\n  moot device seal --remove\n  moot device seal <passphrase.txt",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := a.Wiring().Device()
			if err != nil {
				return err
			}
			var phrase []byte
			if !remove {
				if phrase, err = a.newPassphrase(); err != nil {
					return err
				}
			}
			if err := d.Seal(phrase); err != nil {
				return err
			}
			return a.showKeys(d, !remove)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "store the keys without a passphrase again")
	return cmd
}

// newPassphrase asks for a new passphrase, twice in a terminal.
func (a *commands) newPassphrase() ([]byte, error) {
	phrase, err := a.AskPassphrase("new passphrase: ")
	if err != nil || !a.Interactive() {
		return phrase, err
	}
	again, err := a.AskPassphrase("the same again: ")
	if err == nil && !bytes.Equal(phrase, again) {
		err = &problem.Error{Code: "RELAY-PASSPHRASE", What: "the two passphrases differ, so nothing has changed", Fix: "run it again"}
	}
	return phrase, err
}

func newDeviceRotateCmd(a *commands) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace this device's session key; paired devices follow by themselves",
		Long: "rotate replaces the key that encrypts sessions. It ends the use of a session key that\n" +
			"others may have learned alone. The device key signs the new one, and each paired\n" +
			"device takes it over in its next session. The id of the device and its pairings stay.\n" +
			"moot also does this by itself a month before a key expires.\n\n" +
			"rotate does not help against a copy of the key file. The file holds the device key\n" +
			"too, which can sign another session key. The device key cannot be replaced, because\n" +
			"it is the name of the device. If others may have it, remove device/keys.json, pair\n" +
			"again, and have the other owners run `moot device revoke` for the old device.",
		Example: "  moot device rotate",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := a.Wiring().Device()
			if err != nil {
				return err
			}
			if err := d.Rotate(force); err != nil {
				return err
			}
			return a.showKeys(d, d.Sealed())
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if a paired device does not know the current key yet, and has to be paired again")
	return cmd
}

func newDeviceRevokeCmd(a *commands) *cobra.Command {
	var f revokeFlags
	cmd := &cobra.Command{
		Use:   "revoke PEER",
		Short: "Revoke another device for good, as when it was stolen",
		Long: "revoke removes a device, by its name or its id, from the paired ones. Running\n" +
			"processes end their work for it within a second. Unlike `moot peers rm` it also\n" +
			"refuses to pair with the device again, whatever invite it uses.\n\n" +
			"A relay is told by its operator: --devices removes the device from the relay's\n" +
			"file of devices, and a SIGHUP to the relay then disconnects it. A device that came\n" +
			"in by a token is kept out by a new token.",
		Example: "  moot device revoke bob\n  moot device revoke bob --devices /etc/moot-relay/devices\n  moot device revoke --undo mfz3...",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.revoke(args[0], f) },
	}
	cmd.ValidArgsFunction = a.completePeers
	cmd.Flags().StringVar(&f.devices, "devices", "", "file of a relay's devices, from which the device is removed too")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "let the device be paired again")
	_ = cmd.MarkFlagFilename("devices") // the flag is there
	return cmd
}

type revokeFlags struct {
	devices string
	undo    bool
}

// A revocation is what revoke did.
type revocation struct {
	Device  string `json:"device"`
	Name    string `json:"name,omitempty"`
	Revoked bool   `json:"revoked"`
	Relay   int    `json:"relay_lines,omitempty"` // removed from the relay's file
}

func (a *commands) revoke(peer string, f revokeFlags) error {
	peers, err := a.Wiring().Peers()
	if err != nil {
		return err
	}
	id, name, err := findDevice(peers, peer)
	if err != nil {
		return err
	}
	r := revocation{Device: id.String(), Name: name, Revoked: !f.undo}
	if f.undo {
		if f.devices != "" {
			return app.FlagProblem("--devices", f.devices, "it goes without --undo")
		}
		was, err := peers.Unrevoke(id)
		if err == nil && !was {
			err = &problem.Error{Code: "RELAY-PEER", What: "this device was not revoked", Where: id.String(), Fix: "give the id that `moot device revoke` printed"}
		}
		if err != nil {
			return err
		}
		return a.EmitText(r, "device %s may be paired again\n", id)
	}
	if f.devices != "" { // first, so that an error leaves the device in the list of peers
		if r.Relay, err = removeDevice(f.devices, id); err != nil {
			return err
		}
	}
	if err := peers.Revoke(id); err != nil {
		return err
	}
	if r.Relay > 0 {
		a.Note("removed from %s: send SIGHUP to the relay", f.devices)
	}
	return a.EmitText(r, "revoked %s\n", id)
}

// findDevice finds a device by its name, or by its id even if it is not paired.
func findDevice(peers *identity.Peers, text string) (id identity.DeviceID, name string, err error) {
	p, err := peers.Find(text)
	if err == nil {
		return p.ID, p.Name, nil
	}
	if id, parseErr := identity.ParseDeviceID(text); parseErr == nil {
		return id, "", nil
	}
	return id, "", err
}

// removeDevice removes a device from the file of a relay's devices, and returns
// the number of removed lines. Comments and other lines stay as they are.
func removeDevice(path string, id identity.DeviceID) (removed int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, &problem.Error{Code: "RELAY-DEVICES", What: "the devices cannot be read", Where: path, Fix: "name the file that `moot relay --devices` reads", Err: err}
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		have, err := identity.ParseDeviceID(strings.TrimSpace(line))
		same := err == nil && have == id
		if same {
			removed++
		}
		return same
	})
	if removed == 0 {
		return 0, &problem.Error{Code: "RELAY-DEVICES", What: "the file does not list the device, so nothing has changed", Where: path, Fix: "leave --devices out; if the device came in by a token, replace the token"}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil { // in place: the file stays the relay's
		return 0, &problem.Error{Code: "RELAY-DEVICES", What: "the devices cannot be written", Where: path, Fix: "run it as the user of the relay", Err: err}
	}
	return removed, nil
}
