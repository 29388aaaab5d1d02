module github.com/folkmoot/moot/bench

go 1.26.0

toolchain go1.26.8

replace github.com/folkmoot/moot => ..

require (
	github.com/extism/go-pdk v1.1.3
	github.com/extism/go-sdk v1.7.1
	github.com/folkmoot/moot v0.0.0-00010101000000-000000000000
	github.com/knqyf263/go-plugin v0.9.0
	github.com/tetratelabs/wazero v1.12.0
	github.com/wapc/wapc-go v0.7.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/Workiva/go-datastructures v1.1.5 // indirect
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/dylibso/observe-sdk/go v0.0.0-20240819160327-2d926c5d788a // indirect
	github.com/go-json-experiment/json v0.0.0-20250725192818-e39067aee2d2 // indirect
	github.com/gobwas/glob v0.2.3 // indirect
	github.com/ianlancetaylor/demangle v0.0.0-20240805132620-81f5be970eca // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/tetratelabs/wabin v0.0.0-20230304001439-f6f874872834 // indirect
	go.opentelemetry.io/proto/otlp v1.11.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
