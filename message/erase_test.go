package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// shared saves what two actors said in two scopes, 40 rows of 30 KB in each, and
// one that is nobody's.
func shared(t *testing.T, e *env) {
	t.Helper()
	for i, scope := range []string{chat, chat, "-200", "-200"} {
		for seq := range int64(20) {
			m := said(100*int64(i)+seq+1, []string{anna, bo}[i%2], 0)
			m.Scope, m.Raw = scope, strings.Repeat("r", 60<<10)
			e.save(t, m)
		}
	}
	nobody := said(900, "", 0)
	e.save(t, nobody)
}

func count(t *testing.T, e *env, scope string) int {
	t.Helper()
	return len(seqs(t, e.InScope(t.Context(), scope, message.Range{Consistent: true})))
}

func TestErase(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	shared(t, e)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "BatchWriteItem", Nth: 2})
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "Query", Nth: 2})
	for _, want := range []int{41, 0} {
		if n, err := e.Erase(t.Context(), chat); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
	}
	if n := count(t, e, "-200"); n != 40 {
		t.Errorf("another scope's: %d", n)
	}
	e.save(t, said(1, anna, 0)) // Created: it is forgotten
	_, err := e.Erase(t.Context(), "")
	recordtest.WantBad(t, err, "message", "scope")
}

func TestEraseActor(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	shared(t, e)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "DeleteItem", Times: 1000})
	if n, err := e.EraseActor(t.Context(), anna); n != 0 || err == nil || !strings.HasPrefix(err.Error(), "message: EraseActor on table ") {
		t.Errorf("all replies lost: %d, %v", n, err)
	}
	e.db.Heal()
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "DeleteItem"})
	if n, err := e.EraseActor(t.Context(), anna); n == 0 || n >= 40 || err != nil { // some went although nobody heard of it
		t.Errorf("%d, %v", n, err)
	}
	if n, err := e.EraseActor(t.Context(), anna); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	for scope, want := range map[string]int{chat: 21, "-200": 20} {
		if n := count(t, e, scope); n != want {
			t.Errorf("%d stand in %s, want %d", n, scope, want)
		}
	}
	_, err := e.EraseActor(t.Context(), "anna")
	recordtest.WantBad(t, err, "message", "Actor")
	bare := open(t, message.Config{})
	_, err = bare.EraseActor(t.Context(), anna)
	recordtest.WantBad(t, err, "message", "Config.ActorIndex")
}

// Raw goes and all else stays, by whichever reply is heard; nothing comes back of what
// was erased meanwhile.
func TestDropRaw(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	m := said(1, bo, 1)
	m.Raw, m.Data = `{"reply_to":42}`, map[string]any{"kept": true}
	other := m
	other.Seq = 2
	e.save(t, m, other)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	for _, seq := range []int64{1, 1, 3} {
		if err := e.DropRaw(t.Context(), chat, seq); err != nil {
			t.Error(err)
		}
	}
	var got []message.Message
	for one, err := range e.InScope(t.Context(), chat, message.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		one.CreatedAt = time.Time{}
		got = append(got, one)
	}
	m.Raw = ""
	if diff := cmp.Diff([]message.Message{m, other}, got); diff != "" {
		t.Error(diff)
	}
	recordtest.WantBad(t, e.DropRaw(t.Context(), "", 1), "message", "scope")
	recordtest.WantBad(t, e.DropRaw(t.Context(), chat, 0), "message", "seq")
}
