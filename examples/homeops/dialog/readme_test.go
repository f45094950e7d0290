package dialog_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// The bot understands each form in the README.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What one may write")
	section, _, _ = strings.Cut(section, "\n## ")
	forms := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1)
	if len(forms) < 25 {
		t.Errorf("%d forms", len(forms))
	}
	for _, form := range forms {
		if intent, ok := dialog.Understand(form[1]); !ok {
			t.Errorf("%s: %+v", form[1], intent)
		}
	}
}
