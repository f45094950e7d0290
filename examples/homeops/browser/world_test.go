package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/run"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// world is a page and the tables that it was made from.
type world struct {
	url string
	db  *dynamotest.Server
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, folder := range folders {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

var folders []string // of pages that several tests look at

func folder() string {
	path, err := os.MkdirTemp("", "page-*")
	if err != nil {
		panic(err)
	}
	folders = append(folders, path)
	return path
}

// conversation is the page of the bundled conversation, as the program writes it.
func conversation(t *testing.T) world {
	t.Helper()
	w, err := replayed()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var replayed = sync.OnceValues(func() (world, error) {
	db := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(db.Handler()) // to the end of the process
	env := environment(map[string]string{"DYNAMO_ENDPOINT": endpoint.URL})
	file := filepath.Join(folder(), "page.html")
	var complaints strings.Builder
	p := run.Program{Args: []string{"-page", file}, Env: env, Out: io.Discard, Err: &complaints}
	if code := p.Run(context.Background()); code != 0 {
		return world{}, fmt.Errorf("exit code %d: %s", code, complaints.String())
	}
	return world{url: "file://" + file, db: db}, nil
})

func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// hostile is the page of two households whose members have chosen the worst
// possible names.
func hostile(t *testing.T) string {
	t.Helper()
	db := dynamotest.NewServer(nil)
	cfg, err := config.Load(environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: db.Client(), Now: time.Now, Queue: queue.NewMemory(queue.Config{}), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	names := []string{
		"<script>alert(1)</script>", strings.Repeat("W", 64), "\u202egnihtemos", `"><img src=//evil.example/x onerror=alert(2)>`,
		"Anna", "Anna", "مريم عبد الرحمن", "👩‍👩‍👧‍👦 Per-Göran af Ugglas", "{{.Facts}}",
	}
	at := time.Now()
	for household := range 2 {
		scope := fmt.Sprint(-1001 - household)
		for i, name := range names {
			user := fmt.Sprint(9000000001 + int64(i+100*household))
			ev := newEvent(t, at.Add(-time.Minute), scope, user)
			if err := a.Profiles.Change(t.Context(), profile.Change{User: user, Event: ev, Name: name, Household: scope, Chat: scope}); err != nil {
				t.Fatal(err)
			}
			for n := range 60 {
				what := fmt.Sprintf("%s %d", name, n%3)
				done := activity.Activity{Scope: scope, Actor: user, ActorName: name, Name: what, Kind: "chore", Effort: 1}
				done.Event = newEvent(t, at.Add(-time.Duration(n*n*(i+7))*time.Minute), scope, user, fmt.Sprint(n))
				if _, err := a.Activities.Record(t.Context(), done); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	priced, err := prices.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var cost dynamotest.Cost
	for _, table := range []string{"homeops", strings.Repeat("T", 255)} {
		page.Add(&cost, dynamotest.Cost{ByTable: map[string]dynamotest.Units{table: {RCU: 123456789.5, WCU: 987654321}}, RequestsByTable: map[string]int{table: 123456789}, Unpriced: 3})
	}
	html, err := page.Make(t.Context(), a, page.Facts{
		At: at, Where: "DynamoDB at http://" + strings.Repeat("x", 200), Depth: queue.Depth{Waiting: 1234567, InFlight: 10, Dead: 7654321},
		Since: at.AddDate(-1, 0, 0), Cost: cost, Region: "eu-north-1", Prices: priced,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hostile.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func newEvent(t *testing.T, at time.Time, parts ...string) event.Event {
	t.Helper()
	ev, err := event.New(at, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}
