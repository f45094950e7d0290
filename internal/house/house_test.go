// Package house holds the tests of the house rules, which look at the whole
// repository, its nested modules included: what CONTRIBUTING.md asks for, what the
// pages say, and what must be true of all packages together. It is in the root module,
// because go test would repeat an earlier result in another module after a file of
// this one changed.
package house

import (
	"os"
	"testing"
)

// The tests run in the repository's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
