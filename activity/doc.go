// Package activity is a log of what actors did in a scope, ordered by when it
// happened.
package activity
