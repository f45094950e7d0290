// Package bare has no tests.
package bare

// One is 1.
func One() int { return 1 }
