package run

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// A long file gives the same report on one processor as on many busy ones. The
// test sets the number of processors, so no other test runs beside it.
func TestALongFileGivesTheSameReport(t *testing.T) {
	updates := longFile()
	alone := reportOn(t, 1, 0, updates)
	for _, want := range []string{fmt.Sprint(long, " updates, "), " poison ", " teaching ", " unsure  ", " said before, again "} {
		if !strings.Contains(alone, want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if diff := cmp.Diff(alone, reportOn(t, 8, 1, updates)); diff != "" {
		t.Errorf("another report on a busy machine:\n%s", diff)
	}
}

// reportOn replays the updates on so many processors, beside so many
// goroutines that never rest.
func reportOn(t *testing.T, processors, busy int, updates string) string {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	var stop atomic.Bool
	var noise sync.WaitGroup
	defer noise.Wait()
	defer stop.Store(true)
	for range busy {
		noise.Go(func() {
			for !stop.Load() {
			}
		})
	}
	got := run(t, nil, updates, "-updates", "-")
	if got.exit != exitOK {
		t.Fatalf("exit %d: %s", got.exit, got.err)
	}
	return got.out
}

// long is how many updates a long file has here. Round trips were random once
// from 1,001 on.
const long = 1200

// longFile is a long file of updates: two chats and all kinds of messages, seconds
// to minutes apart. Some come twice, and some have a date that no table takes.
func longFile() string {
	type object = map[string]any
	random := rand.New(rand.NewPCG(3, 1))
	question, _ := dialog.Ask(dialog.Question{Phrase: "diksat", Name: "diskning", Lang: dialog.Swedish})
	texts := []string{
		"Jag har diskat", "diskat och dammsugit", "lagat mat, diskat och tvättat", "God morgon", "Vi ses i kväll", "diksat nu", "dammsugti nu",
		"Vem diskade senast?", "När diskade Eva senast?", "Hur ofta har Eva och jag diskat den här veckan?", "Jag heter Eva", "Jag heter Ola",
		"grej%d betyder pantning", "nej, grej%d betyder städning", "fixat grej%d", "”påhitt %d” betyder ”hitta på”",
	}
	at := time.Date(2026, 3, 10, 6, 0, 0, 0, time.UTC)
	var file strings.Builder
	for i := 1; i <= long; {
		at = at.Add(time.Duration(random.IntN(600)) * time.Second)
		from, text := random.IntN(3), texts[random.IntN(len(texts))]
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, random.IntN(20))
		}
		m := object{
			"message_id": i, "date": at.Unix(), "text": text, "chat": object{"id": -5 - random.IntN(2), "type": "group"},
			"from": object{"id": 7 + from, "first_name": []string{"Eva", "Ola", "Kim"}[from]},
		}
		switch random.IntN(25) {
		case 0:
			m["date"] = 1_000_000 // in 1970
		case 1:
			m["text"] = "ja"
			m["reply_to_message"] = object{"message_id": 1_000_000, "date": at.Unix() - 30, "text": question, "chat": m["chat"], "from": object{"id": int64(app.DefaultBotID), "is_bot": true}}
		}
		line, err := json.Marshal(object{"update_id": i, "message": m})
		if err != nil {
			panic(err)
		}
		for range min(1+random.IntN(20)/19, 3001-i) { // one in twenty twice
			fmt.Fprintf(&file, "%s\n", line)
			i++
		}
	}
	return file.String()
}
