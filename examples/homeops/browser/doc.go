// Package browser has only tests. They look at the status page in Chromium, at two
// widths, dark and light, and measure what people see.
//
//	scripts/chromium go test -C examples/homeops -count=1 ./browser -args -required
package browser
