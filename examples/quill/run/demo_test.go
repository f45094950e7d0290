package run

import (
	"strings"
	"testing"
)

// With nothing set, the bundled webhooks are replayed, and all adds up.
func TestDemonstration(t *testing.T) {
	t.Parallel()
	exit, out, said := called(t, Program{})
	if exit != exitOK || said != "" || !strings.Contains(out, "received        600") || !strings.Contains(out, "on demand in us-west-2") || !strings.Contains(out, "All adds up") {
		t.Errorf("exit %d, %q\n%s", exit, said, out)
	}
	if exit, _, said = called(t, Program{}, "-prices", "nowhere.json"); exit != exitFailed || !strings.Contains(said, "nowhere.json") {
		t.Errorf("no prices: exit %d, %q", exit, said)
	}
}
