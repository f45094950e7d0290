// Command homeops-zips builds the functions and packs each as Lambda's runtime
// provided.al2023 wants it: a zip with one executable, bootstrap.
//
//	go run ./cmd/homeops-zips    writes dist/arm64/homeops-ingest.zip and the like
//
// The same sources and the same Go make the same bytes: what has not changed need
// not be deployed again.
package main

import (
	"archive/zip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

// functions are commands of this module.
var functions = []string{"homeops-ingest", "homeops-worker"}

// architectures are Lambda's names and Go's.
var architectures = []struct{ lambda, goarch string }{{"arm64", "arm64"}, {"x86_64", "amd64"}}

func main() {
	out := flag.String("o", "dist", "the `folder` to write to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, arch := range architectures {
		for _, name := range functions {
			if err := write(ctx, filepath.Join(*out, arch.lambda), name, arch.goarch); err != nil {
				fmt.Fprintf(os.Stderr, "homeops-zips: %s for %s: %v\n", name, arch.lambda, err)
				os.Exit(1)
			}
		}
	}
}

// write builds one function and writes its zip into the folder.
func write(ctx context.Context, folder, name, goarch string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	binary := filepath.Join(folder, name)
	if err := build(ctx, binary, name, goarch); err != nil {
		return err
	}
	defer os.Remove(binary)
	in, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer in.Close()
	packed, err := os.Create(binary + ".zip")
	if err != nil {
		return err
	}
	defer packed.Close()
	unpacked, err := pack(packed, in)
	if err != nil {
		return err
	}
	size, err := packed.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	fmt.Printf("%s  %.1f MB, unpacked %.1f MB\n", packed.Name(), float64(size)/1e6, float64(unpacked)/1e6)
	return packed.Close()
}

// build builds the command without what differs from one machine or commit to
// another, and without what Lambda's runtime does not use.
func build(ctx context.Context, binary, name, goarch string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc",
		"-ldflags", "-s -w", "-o", binary, "./cmd/"+name)
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}

// pack writes a zip with the executable, and without the time of day.
func pack(out io.Writer, executable io.Reader) (size int64, _ error) {
	archive := zip.NewWriter(out)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	header.SetMode(0o755)
	file, err := archive.CreateHeader(header)
	if err != nil {
		return 0, err
	}
	if size, err = io.Copy(file, executable); err != nil {
		return size, err
	}
	return size, archive.Close()
}
