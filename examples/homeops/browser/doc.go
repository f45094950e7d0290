// Package browser has only tests. They look at the status page in Chromium, at two
// widths, dark and light, and measure what people see. It is a module of its own,
// because nothing else depends on the program that drives the browser.
//
//	scripts/chromium go -C examples/homeops/browser test -count=1 . -args -required
package browser
