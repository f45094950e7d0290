// Package max is mutated by the tests of the command.
package max

// Of returns the greater of two numbers.
func Of(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Below counts the numbers from 0 up to n.
func Below(n int) int {
	count := 0
	for count < n {
		count++
	}
	return count
}

// Name is not tested.
func Name() string { return "max" }

// First is the first of some numbers.
func First(ns []int) int { return ns[0] }
