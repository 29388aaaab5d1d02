package sqlite_test

import "fmt"

// childRole is the variable that makes the test binary be a child process.
const childRole = "MOOT_LOG_TEST_CHILD"

func child(role string) int {
	fmt.Println(role)
	return 0
}
