// Package red has a test that always fails.
package red

// One is 1.
func One() int { return 1 }
