// Package browser has no code, only tests: they look at the status page in Chromium,
// at two widths, dark and light, and measure what people see. A module of its own, as
// the program that drives the browser is nobody else's dependency.
//
//	scripts/chromium go -C examples/homeops/browser test -count=1 . -args -required
package browser
