package natsserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// A logger writes the log of the server into that of moot. It is safe for concurrent use.
type logger struct {
	log  *slog.Logger
	fail func(error)

	mu      sync.Mutex
	last    string // the last error
	refused string // the last connection between machines that was refused
}

func (l *logger) Noticef(format string, v ...any) { l.log.Info(line(format, v)) }
func (l *logger) Debugf(format string, v ...any)  { l.log.Debug(line(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(line(format, v)) }

// Warnf logs a warning. Those that come with each start are none.
func (l *logger) Warnf(format string, v ...any) {
	s := line(format, v)
	level := slog.LevelWarn
	if slices.ContainsFunc(starting, func(part string) bool { return strings.Contains(s, part) }) {
		level = slog.LevelInfo
	}
	l.log.Log(context.Background(), level, s)
}

// starting are parts of what a server warns of until a majority is there.
var starting = []string{"Waiting for routing to be established", "has not established contact with a meta leader", "is not current", "Metalayer blocking snapshot"}

// Errorf logs an error. That another machine cannot be reached or goes away is none:
// moot says itself which ones it waits for.
func (l *logger) Errorf(format string, v ...any) {
	s := line(format, v)
	level := slog.LevelError
	switch {
	case strings.Contains(s, "Error trying to connect to route"), strings.Contains(s, "Error flushing"):
		level = slog.LevelInfo
	case strings.Contains(s, "TLS route handshake error"):
		_, why, _ := strings.Cut(s, "handshake error: ")
		l.mu.Lock()
		again := l.refused == why
		l.refused = why
		l.mu.Unlock()
		if level = slog.LevelWarn; again {
			level = slog.LevelInfo // it is repeated each second
		}
	default:
		l.mu.Lock()
		l.last = s
		l.mu.Unlock()
	}
	l.log.Log(context.Background(), level, s)
}

// Fatalf ends the server, not the process.
func (l *logger) Fatalf(format string, v ...any) {
	s := line(format, v)
	l.log.Error(s)
	l.fail(serverError("", errors.New(s)))
}

func (l *logger) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *logger) lastRefused() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// line is a message of the server.
func line(format string, v []any) string {
	return "nats: " + strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, v...)), "\n", "; ")
}
