// Package config reads room.yaml, which describes one room, and the settings of
// the program.
//
// room.yaml is parsed into YAML nodes, so that every problem has a position,
// and is checked against a JSON Schema, which editors can use too ([Schema]).
// All problems are reported at once: first violations of the schema, then
// problems of the whole file, such as two participants with one ID. Variables
// are expanded after parsing, so a value cannot change the structure. The text
// as written is kept next to the expanded values, and only the text is shown or
// stored.
//
// Settings come from flags, the environment, a file and defaults, in this
// order, through viper. room.yaml does not go through viper, because viper
// lower-cases keys.
package config
