// Package local connects the processes of one data folder by unix sockets.
//
// Each process that runs rooms or is online listens in the folder sockets of the
// data folder: `moot serve` on daemon.sock, any other on PID.sock. Others find
// these sockets there and dial them. The server speaks HTTP on them, which is not
// the subject of this package.
//
// The modes of the files are the only protection: the folder is 0700, a socket
// 0600, and both must belong to the user of the process that listens or dials.
// A process that may connect is therefore one of the same user, or of root.
//
// A path that is longer than the address of a unix socket may be is replaced by
// one below [os.TempDir], in a folder that is checked in the same way.
package local
