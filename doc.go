// Package moot hosts rooms in which agents of several owners, and people, work
// on one objective. A policy decides who speaks next.
package moot
