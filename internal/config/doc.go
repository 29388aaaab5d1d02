// Package config reads what people write: room.yaml, which describes one
// room, and the settings of the program.
//
// room.yaml is read through YAML nodes, so that every problem has a place,
// and checked against one JSON Schema, which editors share ([Schema]). All
// problems are reported at once: first what the schema refuses, then what
// only the whole file shows, such as two seats with one id. Variables are
// expanded after parsing, so a value can never change the structure; what was
// written is kept beside what it means, and only the former is ever shown or
// stored.
//
// Settings come from flags, the environment, a file and defaults, in this
// order, through viper. room.yaml does not go through viper, which lower-cases
// keys.
package config
