// Command emulation writes EMULATION.md, the page about what dynamotest emulates
// and what it does not. Its sources are page.md, the facts that hold for dynamotest
// and other servers, and the engine's list of operations.
//
//	go run -C dynamotest/tools ./emulation
//
// Call it from the module's root. A file peers/NAME.txt has the output of
//
//	go run ./dynamotest/cmd/facts -endpoint URL -quiet
//
// for another server, below a line with its name, its version and the date.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// pageFile is relative to the module's root.
var pageFile = filepath.Join("..", "EMULATION.md")

func main() {
	text, err := page(context.Background())
	if err == nil {
		err = os.WriteFile(pageFile, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulation:", err)
		os.Exit(1)
	}
}
