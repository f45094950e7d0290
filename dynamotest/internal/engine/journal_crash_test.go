package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// whole returns the state of an engine as the text of a compacted file.
func whole(t testing.TB, e *Engine) string {
	t.Helper()
	var b bytes.Buffer
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := journal.WriteFile(&b, e.state.write); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ticking is a clock that advances each time it is read.
func ticking() func() time.Time {
	var ticks atomic.Int64
	return func() time.Time { return epoch.Add(time.Duration(ticks.Add(1)) * 700 * time.Microsecond) }
}

var epoch = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func onModel(m *model, now func() time.Time) *Engine {
	return New(Options{Now: now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Disk: m, CompactFrom: 1000})
}

type step struct{ op, body string }

// history changes everything that a server keeps, so often that its file is
// compacted a few times.
func history() []step {
	steps := []step{
		{"CreateTable", `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},
			"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"day","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
			"GlobalSecondaryIndexes":[{"IndexName":"by-day","KeySchema":[{"AttributeName":"day","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`},
		{"UpdateTimeToLive", `{"TableName":"orders","TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`},
		{"CreateTable", `{"TableName":"gone","BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},
			"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`},
		{"PutItem", `{"TableName":"gone","Item":{"id":{"S":"a"}}}`},
		{"DeleteTable", `{"TableName":"gone"}`},
	}
	for i := range 5 {
		steps = append(steps, step{"TransactWriteItems", fmt.Sprintf(`{"ClientRequestToken":"token%d","TransactItems":[{"Put":{"TableName":"orders","Item":{"id":{"S":"left"},"day":{"N":"%d"}}}},
			{"Put":{"TableName":"orders","Item":{"id":{"S":"right"},"n":{"N":"-%d"}}}}]}`, i, i, i)})
	}
	steps = append(steps,
		step{"DeleteItem", `{"TableName":"orders","Key":{"id":{"S":"left"}}}`},
		step{"UpdateTable", `{"TableName":"orders","StreamSpecification":{"StreamEnabled":false}}`},
		step{"UpdateContinuousBackups", `{"TableName":"orders","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7}}`})
	for i := range 30 {
		steps = append(steps, step{"UpdateItem", fmt.Sprintf(`{"TableName":"orders","Key":{"id":{"S":"%d"}},"UpdateExpression":"ADD #n :n SET #t = :t",
			"ExpressionAttributeNames":{"#n":"n","#t":"text"},"ExpressionAttributeValues":{":n":{"N":"%d"},":t":{"S":"%s"}}}`, i%2, i, strings.Repeat("x", 600))})
	}
	return steps
}

// do performs a step and reports whether the server acknowledged it.
func (s step) do(e *Engine) bool {
	return e.Do(context.Background(), s.op, []byte(s.body)).Err == nil
}

// compacted waits for a compaction that is under way.
func (m *model) compacted(j *journal.Journal) {
	if j.Status().Compacting && m.hold != nil {
		m.hold <- struct{}{}
	}
	j.WaitCompacted()
}

// Any operation of the disk may fail, or be the last before the power fails, and
// a crash may leave any part of what was not synced. The next start finds
// everything that was acknowledged, and apart from that at most what was under
// way.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	steps := history()
	var now time.Time
	reference := New(Options{Now: func() time.Time { return now }})
	states := []string{whole(t, reference)}
	for i, s := range steps {
		now = timeOf(i)
		if !s.do(reference) {
			t.Fatalf("%s is refused", s.body)
		}
		states = append(states, whole(t, reference))
	}
	compactions := 0
	found := map[[sha256.Size]byte]string{} // many a crash leaves the same disk
	for _, power := range []bool{true, false} {
		for failAt := 1; ; failAt++ {
			m := newModel()
			m.failAt, m.power = failAt, power
			acknowledged, under := play(t, m, steps)
			if m.operations < failAt { // there are no more operations to fail
				compactions = m.renames
				break
			}
			draw := rand.New(rand.NewPCG(uint64(failAt), 1))
			for _, img := range images() {
				name := fmt.Sprintf("operation %d fails, power lost: %v, left: %+v", failAt, power, img)
				left := m.crash(img, draw)
				sum := left.sum()
				if found[sum] == "" {
					found[sum] = restart(t, name, left)
				}
				if got := found[sum]; got != states[acknowledged] && got != states[acknowledged+under] {
					t.Fatalf("%s: after %d acknowledged steps, it is neither as after them nor as after one more: %s", name, acknowledged, cmp.Diff(states[acknowledged], got))
				}
			}
		}
	}
	if compactions < 3 {
		t.Errorf("%d compactions: too few to prove something", compactions)
	}
}

// timeOf returns the time of a step.
func timeOf(step int) time.Time { return epoch.Add(time.Duration(step) * time.Second) }

// play returns how many steps were acknowledged, and how many more, 0 or 1, may
// have taken effect.
func play(t *testing.T, m *model, steps []step) (acknowledged, under int) {
	t.Helper()
	var now time.Time
	m.hold = make(chan struct{})
	e := onModel(m, func() time.Time { return now })
	if err := e.OpenJournal("data"); err != nil {
		return 0, 0
	}
	for i, s := range steps {
		now = timeOf(i)
		if !s.do(e) {
			under = 1
		} else if under > 0 {
			t.Fatalf("%s is acknowledged after a failure", s.op)
		} else {
			acknowledged++
		}
		if i%3 == 0 { // so that most compactions have lines that came meanwhile
			m.compacted(e.journal)
		}
	}
	m.compacted(e.journal)
	return acknowledged, under
}

// restart opens what a crash left, writes to it, opens it again, and returns the
// state that it first found.
func restart(t *testing.T, name string, m *model) string {
	t.Helper()
	e := onModel(m, ticking())
	if err := e.OpenJournal("data"); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	found := whole(t, e)
	if left := len(m.names); left != 1 {
		t.Fatalf("%s: %d files are left", name, left)
	}
	create := step{"CreateTable", `{"TableName":"later","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`}
	if !create.do(e) {
		t.Fatalf("%s: cannot be written to", name)
	}
	want := whole(t, e)
	if err := e.CloseJournal(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	e = onModel(m.crash(image{}, nil), ticking())
	if err := e.OpenJournal("data"); err != nil {
		t.Fatalf("%s, and written to: %v", name, err)
	}
	if diff := cmp.Diff(want, whole(t, e)); diff != "" {
		t.Fatalf("%s, and written to: %s", name, diff)
	}
	return found
}

// A reopened engine has the same state, including every time and number, even
// if the clock advances during a request.
func TestReopenedAsItWas(t *testing.T) {
	t.Parallel()
	m, now := newModel(), ticking()
	e := onModel(m, now)
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	for i, s := range history() {
		if !s.do(e) {
			t.Fatalf("step %d is refused", i)
		}
		m.compacted(e.journal)
		again := onModel(m.crash(image{names: true, data: everything}, nil), now)
		if err := again.OpenJournal("data"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole(t, e), whole(t, again)); diff != "" {
			t.Fatalf("after step %d: %s", i, diff)
		}
	}
}
