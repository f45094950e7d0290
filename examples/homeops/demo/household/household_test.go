package household_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/demo/household"
)

var update = flag.Bool("update", false, "write run/testdata/conversation.jsonl")

const bundled = "../../run/testdata/conversation.jsonl"

func TestTheBundledFile(t *testing.T) {
	var want bytes.Buffer
	if err := household.Write(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(bundled, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(bundled)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("the file is not what the generator writes (%v): run this test with -update", err)
	}
}

// A chat's phrases stay in memory for up to five minutes, less a random part of
// half a minute. The gap between two messages is never within that range, so
// that a replay always costs the same.
func TestNothingIsLeftToChance(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	if err := household.Write(&file); err != nil {
		t.Fatal(err)
	}
	dates := map[int64][]int64{}
	for line := range strings.Lines(file.String()) {
		var u struct {
			Message struct {
				Date int64
				Chat struct{ ID int64 }
			}
		}
		if json.Unmarshal([]byte(line), &u) == nil {
			dates[u.Message.Chat.ID] = append(dates[u.Message.Chat.ID], u.Message.Date)
		}
	}
	for _, dates := range dates {
		for _, one := range dates {
			for _, other := range dates {
				if apart := one - other; apart >= 269 && apart <= 301 {
					t.Errorf("messages of %d and %d are %d s apart", one, other, apart)
				}
			}
		}
	}
}
