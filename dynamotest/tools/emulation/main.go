// Command emulation writes the page that says what dynamotest emulates and what
// it does not: from page.md, from the facts that dynamotest holds and other servers
// were seen to hold, and from the list of operations that the engine has.
//
//	go run ./dynamotest/tools/emulation
//
// Called from the module's root. A file peers/NAME.txt is what
//
//	go run ./dynamotest/cmd/facts -endpoint URL -quiet
//
// printed of another server, below a line with its name, its version and the date.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// pageFile is from the module's root.
var pageFile = filepath.FromSlash("dynamotest/EMULATION.md")

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
