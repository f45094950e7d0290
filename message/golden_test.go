package message_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// The row as it is stored, and read back.
func TestGoldenRow(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{Retention: 90 * 24 * time.Hour})
	e.now = noon.Add(1250 * time.Millisecond)
	want := message.Message{
		Scope: chat, Seq: 4711, Actor: anna, ActorName: "Anna", Text: "diskat", Raw: `{"update_id":9}`, At: noon,
	}
	e.save(t, want)
	golden.Want(t, e.db.Client(), e.table, "testdata/row.json", "chatId", "messageId")
	want.CreatedAt = e.now
	if got, ok, err := e.Get(t.Context(), chat, 4711); err != nil || !ok || !cmp.Equal(got, want) {
		t.Errorf("Get = %+v, %v, %v", got, ok, err)
	}
}

// A message without a sender, a name or anything but its time.
func TestGoldenBareRow(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.save(t, message.Message{Scope: chat, Seq: 1, At: noon})
	golden.Want(t, e.db.Client(), e.table, "testdata/bare.json", "chatId", "messageId")
}

// Rows of the TypeScript system, with seconds or milliseconds, stand as they
// are: they are read, are duplicates of what comes again, and are in their
// place among ours.
func TestTypeScriptRows(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript.json")
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript-millis.json")
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript-bare.json")
	e.save(t, said(15, bo, 0))

	want := message.Message{
		Scope: chat, Seq: 12, Actor: anna, ActorName: "anna", Text: "Jag har diskat", Raw: `{"update_id":10000}`,
		At: noon.Add(-10 * time.Second), CreatedAt: noon.Add(-9877 * time.Millisecond),
	}
	millis := want
	millis.Seq, millis.At = 13, noon.Add(-9500*time.Millisecond)
	bare := message.Message{Scope: chat, Seq: 14, At: noon.Add(-5 * time.Second)}
	var got []message.Message
	for m, err := range e.InScope(t.Context(), chat, message.Range{ToSeq: 14}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	if diff := cmp.Diff([]message.Message{want, millis, bare}, got); diff != "" {
		t.Errorf("InScope (-want +got):\n%s", diff)
	}
	since := message.Range{Since: noon.Add(-10 * time.Second), NewestFirst: true}
	if got := seqs(t, e.InScope(t.Context(), chat, since)); !cmp.Equal(got, []int64{15, 14, 13, 12}) {
		t.Errorf("since = %v", got)
	}
	pace, err := e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 15, Actor: bo, At: noon})
	if err != nil || pace.Others != 2 {
		t.Errorf("FastConversation = %+v, %v, want Anna's two", pace, err)
	}
	again := want
	again.Text = "another text"
	if out, err := e.Save(t.Context(), again); err != nil || out != event.Duplicate {
		t.Errorf("Save = %v, %v, want duplicate", out, err)
	}
	golden.Want(t, e.db.Client(), e.table, "testdata/typescript.json", "chatId", "messageId")
}

// A row without a time is not since any, and does not end the way back.
func TestSinceAcrossARowWithoutTime(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	row := golden.Item(t, "testdata/typescript-bare.json")
	delete(row, "timestamp")
	recordtest.Put(t, e.db.Client(), e.table, row) // 14
	e.save(t, said(13, anna, 1), said(15, anna, 0))
	for want, r := range map[string]message.Range{
		"[15 13]":    {Since: noon.Add(-time.Minute), NewestFirst: true},
		"[15 14 13]": {NewestFirst: true},
	} {
		if got := fmt.Sprint(seqs(t, e.InScope(t.Context(), chat, r))); got != want {
			t.Errorf("InScope = %s, want %s", got, want)
		}
	}
}

// What cannot be read is an error, never a message of another time or place.
func TestStrangeRows(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]struct{ attr, value string }{
		"time is text":      {"timestamp", "noon"},
		"createdAt is none": {"createdAt", "yesterday"},
		"data is text":      {"data", "x"},
	} {
		e := open(t, message.Config{})
		row := golden.Item(t, "testdata/typescript.json")
		row[spoil.attr] = item.S(spoil.value)
		recordtest.Put(t, e.db.Client(), e.table, row)
		if m, ok, err := e.Get(t.Context(), chat, 12); err == nil || ok {
			t.Errorf("%s: Get = %+v", name, m)
		}
		if got, err := e.Recent(t.Context(), chat, 1); err == nil || got != nil {
			t.Errorf("%s: Recent = %+v", name, got)
		}
	}
	e := open(t, message.Config{})
	row := golden.Item(t, "testdata/typescript.json")
	row["timestamp"] = item.S("noon")
	recordtest.Put(t, e.db.Client(), e.table, row)
	if pace, err := e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 13, At: noon}); err == nil {
		t.Errorf("FastConversation = %+v", pace)
	}
}
