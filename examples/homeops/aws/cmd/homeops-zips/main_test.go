package main

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The zip is the same at any time: one file that anybody may execute.
func TestPack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var today, tomorrow bytes.Buffer
		for _, out := range []*bytes.Buffer{&today, &tomorrow} {
			if size, err := pack(out, strings.NewReader("program")); err != nil || size != 7 {
				t.Fatalf("%d bytes, %v", size, err)
			}
			time.Sleep(24 * time.Hour)
		}
		if !bytes.Equal(today.Bytes(), tomorrow.Bytes()) {
			t.Error("not the same bytes")
		}
		archive, err := zip.NewReader(bytes.NewReader(today.Bytes()), int64(today.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if len(archive.File) != 1 || archive.File[0].Name != "bootstrap" || archive.File[0].Mode() != 0o755 {
			t.Fatalf("holds %v", archive.File)
		}
		in, err := archive.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(in); string(text) != "program" || err != nil {
			t.Errorf("holds %q, %v", text, err)
		}
	})
}
