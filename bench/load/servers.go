package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/folkmoot/moot/internal/natsserver"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// A nodeSetup says where a process of rooms has its data and its log.
type nodeSetup struct {
	Dir     string // of its data folder
	LogURL  string // of the PostgreSQL server; "" without one
	Machine string // folder of its machine in a cluster of NATS servers; "" without one
	Nodes   int    // processes that share the log
	Profile string // file of a profile of the processor; "" is none
	Heap    string // file of a profile of the heap with all live rooms; "" is none
}

// An engine keeps the rooms of the processes that it sets up.
type engine struct {
	name, title string
	start       func(p plan, dir string) (setups []nodeSetup, stop func() error, err error)
}

var engines = []engine{
	{"sqlite", "one process on SQLite", startAlone},
	{"postgres", "three nodes on PostgreSQL", startPostgres},
	{"nats", "three nodes on NATS", startNATS},
}

func engineNames() (all []string) {
	for _, e := range engines {
		all = append(all, e.name)
	}
	return all
}

// errMissing is of an engine whose server is not installed.
var errMissing = pgtest.ErrMissing

var nodeNames = []string{"one", "two", "three"}

func noStop() error { return nil }

// startAlone sets up one process, which keeps the rooms in its data folder.
func startAlone(_ plan, dir string) ([]nodeSetup, func() error, error) {
	return []nodeSetup{{Dir: filepath.Join(dir, "one"), Nodes: 1}}, noStop, nil
}

// startPostgres starts a server with the settings of its installation, but for the number of
// connections. Its folder is not below dir, which the user of the server may not read.
func startPostgres(p plan, dir string) (setups []nodeSetup, stop func() error, err error) {
	s, err := pgtest.Run(p.dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range nodeNames {
		setups = append(setups, nodeSetup{Dir: filepath.Join(dir, name), LogURL: s.URL(""), Nodes: len(nodeNames)})
	}
	return setups, s.Stop, nil
}

// startNATS makes the keys of a cluster. Each node starts its server itself.
func startNATS(_ plan, dir string) (setups []nodeSetup, stop func() error, err error) {
	keys := filepath.Join(dir, "keys")
	var machines []natsserver.Machine
	for i, name := range nodeNames {
		port, err := freePorts(10_000+i*5000, 5000)
		if err != nil {
			return nil, nil, err
		}
		machines = append(machines, natsserver.Machine{Name: name, Host: "127.0.0.1", Port: port})
		setups = append(setups, nodeSetup{Dir: filepath.Join(dir, name), Machine: filepath.Join(keys, name), Nodes: len(nodeNames)})
	}
	return setups, noStop, natsserver.Init(keys, machines, false)
}

// freePorts returns a port of a range that is free with the two after it. The range is below
// the ports that the system gives to other programs.
func freePorts(from, n int) (int, error) {
	for range 1000 {
		port := from + rand.IntN(n-3)
		if free(port) && free(port+1) && free(port+2) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no three ports from %d on are free", from)
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

// started calls measure with the processes of an engine, in a folder that is removed
// afterwards.
func (e engine) started(p plan, measure func(setups []nodeSetup) error) (err error) {
	dir, err := os.MkdirTemp(p.dir, "moot-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	setups, stop, err := e.start(p, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return measure(setups)
}
