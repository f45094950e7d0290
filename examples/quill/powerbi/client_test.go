package powerbi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// clientOf returns a client of the imitated dataset, without a network.
func clientOf(transport http.RoundTripper) *powerbi.Client {
	return &powerbi.Client{
		Tenant: powerbitest.Tenant, ID: powerbitest.ID, Secret: powerbitest.Secret,
		Workspace: powerbitest.Workspace, Dataset: powerbitest.Dataset,
		HTTP: &http.Client{Transport: transport},
	}
}

func call(batch string, n int) fact.Row {
	return fact.Row{
		"key": fmt.Sprintf("ALOWARE:CALL:%d", n), "batch": batch,
		"at": fact.Time(time.Unix(int64(n), 0)), "receivedAt": fact.Time(time.Unix(int64(n)+1, 0)),
		"kind": "call", "status": "completed",
	}
}

func calls(batch string, from, to int) []fact.Row {
	var rows []fact.Row
	for n := from; n < to; n++ {
		rows = append(rows, call(batch, n))
	}
	return rows
}

func none(t *testing.T, s *powerbitest.Server) {
	t.Helper()
	for _, v := range s.Violations() {
		t.Errorf("violation: %s", v)
	}
}

// Over a real connection, posted rows are stored, and questions find them.
func TestPostAndAsk(t *testing.T) {
	t.Parallel()
	s := powerbitest.New(powerbitest.Config{})
	url, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := clientOf(nil)
	c.BaseURL, c.LoginURL, c.HTTP = url+"/", url+"/", nil
	for batch, n := range map[string]int{"1.1": 10_000, `"] = "`: 1} {
		rows := calls(batch, 0, n)
		if err := c.Post(t.Context(), fact.Communications, rows); err != nil {
			t.Fatal(err)
		}
		keys, err := c.Posted(t.Context(), fact.Communications, batch)
		want := map[string]bool{}
		for _, r := range rows {
			want[r["key"].(string)] = true
		}
		got := map[string]bool{}
		for _, k := range keys {
			got[k] = true
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(keys) != n {
			t.Errorf("%d keys, %v %s", len(keys), err, diff)
		}
	}
	if keys, err := c.Posted(t.Context(), fact.Communications, "1.2"); err != nil || len(keys) != 0 {
		t.Errorf("of a batch that was not posted: %q, %v", keys, err)
	}
	if got := s.Counts(); got != (powerbitest.Counts{Logins: 1, Posts: 2, Asks: 3, Rows: 10_001}) {
		t.Errorf("%+v", got)
	}
	none(t, s)
}

// Whatever happens to a post, its error and the next question agree with the stored
// rows.
func TestWhatBecomesOfAPost(t *testing.T) {
	t.Parallel()
	for _, network := range []bool{false, true} {
		for fault, c := range map[powerbitest.Fault]struct {
			err  string
			keys int
		}{
			0:                            {"done", 3},
			powerbitest.LoseRequest:      {"unknown", 0},
			powerbitest.LoseReply:        {"unknown", 3},
			powerbitest.Unavailable:      {"unknown", 0},
			powerbitest.UnavailableAfter: {"unknown", 3},
		} {
			s := powerbitest.New(powerbitest.Config{})
			client := clientOf(s)
			if network {
				url, stop, err := s.Start()
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				client.BaseURL, client.LoginURL, client.HTTP = url, url, nil
			}
			if err := client.Post(t.Context(), fact.Communications, calls("1.1", 0, 1)); err != nil { // the connection stands
				t.Fatal(err)
			}
			s.OnPost(2, fault)
			s.OnAsk(1, powerbitest.LoseReply)
			err := client.Post(t.Context(), fact.Communications, calls("1.2", 0, 3))
			_, lost := client.Posted(t.Context(), fact.Communications, "1.2")
			keys, asked := client.Posted(t.Context(), fact.Communications, "1.2")
			if kind(err) != c.err || kind(lost) != "wait 0s" || asked != nil || len(keys) != c.keys {
				t.Errorf("fault %d, network %v: %v; then %v; then %q, %v", fault, network, err, lost, keys, asked)
			}
			if n := s.Counts(); n.Posts != 2 || n.Asks != 2 || n.Rows != 1+c.keys { // nothing was sent twice
				t.Errorf("fault %d, network %v: %+v", fault, network, n)
			}
			none(t, s)
		}
	}
}

// These are Microsoft's documented figures.
func TestLimits(t *testing.T) {
	t.Parallel()
	want := sink.Limits{
		RowsAPost: 10_000, RowsAnHour: 1_000_000, PostsAMinute: 120,
		LargeTable: 250_000, PostsAnHour: 120, RowsATable: 5_000_000, TextUnits: 4_000,
	}
	if diff := cmp.Diff(want, new(powerbi.Client).Limits()); diff != "" {
		t.Error(diff)
	}
}
