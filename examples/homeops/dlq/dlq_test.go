package dlq_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// inBubble runs the test in a bubble, whose clock the queue and the commands
// use.
func inBubble(t *testing.T, f func(*testing.T, *queue.Memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, queue.NewMemory(queue.Config{MaxBytes: 1000})) })
}

// fails puts a message among the dead letters as the worker does after its last
// delivery.
func fails(t *testing.T, q *queue.Memory, body, reason string) {
	t.Helper()
	if _, err := q.Send(t.Context(), body, map[string]string{queue.ChatID: "-5", queue.MessageID: "30"}); err != nil {
		t.Fatal(err)
	}
	received, err := q.Receive(t.Context(), 1, 0)
	if err == nil {
		err = q.Bury(t.Context(), received[0], reason)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, q *queue.Memory, body, reason string) {
	t.Helper()
	if err := q.Refuse(t.Context(), []byte(body), nil, reason); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, q queue.Queue, c dlq.Command) (string, error) {
	t.Helper()
	var out strings.Builder
	err := c.Run(t.Context(), q, &out)
	return out.String(), err
}

func bodies(all []queue.Message) (bodies []string) {
	for _, m := range all {
		body, _ := m.Content()
		bodies = append(bodies, string(body))
	}
	return bodies
}

// hooked is a queue of which a test replaces some operations.
type hooked struct {
	*queue.Memory
	send    func(ctx context.Context, body string, attributes map[string]string) (string, error)
	receive func([]queue.Message, error) ([]queue.Message, error)
	remove  error // of Delete
}

func (q hooked) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	if q.send == nil {
		return q.Memory.Send(ctx, body, attributes)
	}
	return q.send(ctx, body, attributes)
}

func (q hooked) DeadLetters() queue.DeadLetters { return letters{q.Memory.DeadLetters(), q} }

type letters struct {
	queue.DeadLetters
	of hooked
}

func (l letters) Receive(ctx context.Context, max int, hidden time.Duration) ([]queue.Message, error) {
	if l.of.receive == nil {
		return l.DeadLetters.Receive(ctx, max, hidden)
	}
	return l.of.receive(l.DeadLetters.Receive(ctx, max, hidden))
}

func (l letters) Delete(ctx context.Context, receipt string) error {
	if l.of.remove != nil {
		return l.of.remove
	}
	return l.DeadLetters.Delete(ctx, receipt)
}

var errTrouble = errors.New("trouble")

// troubled returns the queue with one operation that fails.
func troubled(q *queue.Memory, fail string) hooked {
	h := hooked{Memory: q}
	switch fail {
	case "send":
		h.send = func(context.Context, string, map[string]string) (string, error) { return "", errTrouble }
	case "receive":
		h.receive = func([]queue.Message, error) ([]queue.Message, error) { return nil, errTrouble }
	case "delete":
		h.remove = errTrouble
	}
	return h
}

func TestList(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		fails(t, q, "first", "worker: save: no\tcolumn,\nno line, \u009b2J\u202e")
		time.Sleep(time.Second)
		refused(t, q, "{", "telegram: not an update")
		for i := range 2 { // a second list at once sees the same
			began := time.Now()
			got, err := run(t, q, dlq.Command{Name: dlq.List})
			want := `ID   CHAT  MESSAGE  SENT                  RECEIVES  WHY
m-1  -5    30       2000-01-01T00:00:00Z  ` + fmt.Sprint(2+3*i) + `         worker: save: no column, no line, ?2J?
m-2                 2000-01-01T00:00:01Z  ` + fmt.Sprint(1+3*i) + `         telegram: not an update
2 dead letters. The queue may have more: SQS may leave some out, and hides those that somebody has just received.
`
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("takes %v", took)
			}
		}
	})
}

func TestAnEmptyListHasNoColumns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		if got, err := run(t, q, dlq.Command{Name: dlq.List}); err != nil || !strings.HasPrefix(got, "0 dead letters. ") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestShow(t *testing.T) {
	t.Parallel()
	digits := func(body string) string {
		sum := sha256.Sum256([]byte(body))
		return hex.EncodeToString(sum[:])
	}
	long := strings.Repeat("x", 2000)
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		fails(t, q, "{\"text\":\"ål\"}\r\n\t", "worker: save: trouble")
		refused(t, q, "\x1b[2J", "no JSON")
		refused(t, q, long, "too large")
		for id, want := range map[string][]string{
			"m-1": {"id        m-1\n", "chat      -5\n", "message   30\n", "sent      2000-01-01T00:00:00Z\n", "why       worker: save: trouble\n", "bytes     17\n", "sha256    " + digits("{\"text\":\"ål\"}\r\n\t") + "\n", "whole     yes\n", "\n\n{\"text\":\"ål\"}\r\n\t\n"},
			"m-2": {"why       no JSON\n", "bytes     4\n", "sha256    " + digits("\x1b[2J") + "\n", "whole     yes\n", "\n\nquoted as in Go: \"\\x1b[2J\"\n"},
			"m-3": {"why       too large\n", "bytes     2000\n", "sha256    " + digits(long) + "\n", "whole     no: only ", " bytes of 2000 are kept\n", "\n\nxxxx"},
		} {
			got, err := run(t, q, dlq.Command{Name: dlq.Show, IDs: []string{id}})
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
			for _, want := range want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in\n%s", id, want, got)
				}
			}
		}
		got, err := run(t, q, dlq.Command{Name: dlq.Show, IDs: []string{"m-9\x1b"}})
		if !errors.Is(err, dlq.ErrNotFound) || got != "m-9?  is not among the dead letters that the queue shows\n" {
			t.Errorf("no such letter: %q, %v", got, err)
		}
	})
}

// A letter is sent as it was before it was dead.
func TestRedrive(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		fails(t, q, "one", "why")
		fails(t, q, "two", "why")
		refused(t, q, "three", "why")
		got, err := run(t, q, dlq.Command{Name: dlq.Redrive, IDs: []string{"m-2", "m-3"}})
		if want := "m-2  is sent again as m-4\nm-3  is sent again as m-5\n2 sent again, 0 not\n"; err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		left := q.Left()
		if diff := cmp.Diff([]string{"two", "three"}, bodies(left)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{queue.ChatID: "-5", queue.MessageID: "30"}, left[0].Attributes); diff != "" {
			t.Error(diff)
		}
		if len(left[1].Attributes) != 0 || left[1].Body != "three" {
			t.Errorf("what was refused is sent as %+v", left[1])
		}
		if diff := cmp.Diff([]string{"one"}, bodies(q.Dead())); diff != "" {
			t.Error(diff)
		}
	})
}

// A letter that cannot be sent stays, and the answer says why. It is a failure
// only if the letter was named.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		refused(t, q, strings.Repeat("x", 2000), "too large")
		refused(t, q, "\x00", "no JSON")
		fails(t, q, "good", "why")
		kept, _ := q.Dead()[0].Content()
		cut := fmt.Sprintf("m-1  cannot be sent: only %d bytes of 2000 are kept\n", len(kept))
		const control = "m-2  cannot be sent: queue: the body is empty or holds characters that SQS refuses\n"
		const again = "m-2  would be refused again unless the program changed, so redrive it by its id: no JSON\n"
		for _, tc := range []struct {
			command dlq.Command
			want    string
			err     error
		}{
			{dlq.Command{Name: dlq.Redrive, All: true}, cut + again + "m-3  is sent again as m-4\n1 sent again, 2 not\n", nil},
			{dlq.Command{Name: dlq.Redrive, All: true}, cut + again + "0 sent again, 2 not\n", nil},
			{dlq.Command{Name: dlq.Redrive, IDs: []string{"m-1"}}, cut + "0 sent again, 1 not\n", dlq.ErrNotSent},
			{dlq.Command{Name: dlq.Redrive, IDs: []string{"m-2"}}, control + "0 sent again, 1 not\n", dlq.ErrNotSent},
			{dlq.Command{Name: dlq.Redrive, IDs: []string{"m-3"}}, "m-3  is not among the dead letters that the queue shows\n0 sent again, 0 not\n", dlq.ErrNotFound},
		} {
			if got, err := run(t, q, tc.command); got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%+v: %v\n%s", tc.command, err, cmp.Diff(tc.want, got))
			}
		}
		if len(q.Dead()) != 2 || q.Len() != 1 {
			t.Errorf("%d dead, %d sent", len(q.Dead()), q.Len())
		}
	})
}

func TestALetterThatDoesNotDecodeIsNotSent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		odd := hooked{Memory: q, receive: func([]queue.Message, error) ([]queue.Message, error) {
			return []queue.Message{{ID: "x", Body: "%", Attributes: map[string]string{queue.Encoding: "base64"}}}, nil
		}}
		got, err := run(t, odd, dlq.Command{Name: dlq.Redrive, IDs: []string{"x"}})
		if want := "x  cannot be sent: its encoding is \"base64\", and it cannot be decoded\n0 sent again, 1 not\n"; got != want || !errors.Is(err, dlq.ErrNotSent) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// If a step breaks off, the letter is in one of the two places, or in both.
func TestNothingIsLostInTrouble(t *testing.T) {
	t.Parallel()
	for fail, want := range map[string]struct{ dead, sent int }{"receive": {2, 0}, "send": {2, 0}, "delete": {2, 1}} {
		inBubble(t, func(t *testing.T, q *queue.Memory) {
			fails(t, q, "one", "why")
			fails(t, q, "two", "why")
			got, err := run(t, troubled(q, fail), dlq.Command{Name: dlq.Redrive, All: true})
			if !errors.Is(err, errTrouble) || len(q.Dead()) != want.dead || q.Len() != want.sent || !strings.HasSuffix(got, fmt.Sprintf("%d sent again, 0 not\n", want.sent)) {
				t.Errorf("%s fails: %q, %v, %d dead, %d sent", fail, got, err, len(q.Dead()), q.Len())
			}
			if _, err := run(t, q, dlq.Command{Name: dlq.Redrive, All: true}); err != nil || len(q.Dead()) != 0 {
				t.Errorf("afterwards: %v, %d dead", err, len(q.Dead()))
			}
		})
	}
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		if _, err := run(t, troubled(q, "receive"), dlq.Command{Name: dlq.List}); !errors.Is(err, errTrouble) {
			t.Errorf("list: %v", err)
		}
	})
}

// update is one that telegram.Parse takes.
const update = `{"update_id":1,"message":{"message_id":1,"date":3,"chat":{"id":-4}}}`

// A body that is not an update would be refused again: -all leaves it, and by
// name it is sent.
func TestWhatIsNoUpdateIsSentByName(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, q *queue.Memory) {
		refused(t, q, "{", "no JSON")
		refused(t, q, update, "a rule of old")
		got, err := run(t, q, dlq.Command{Name: dlq.Redrive, All: true})
		if err != nil || !strings.Contains(got, "m-1  would be refused again") || q.Len() != 1 || len(q.Dead()) != 1 {
			t.Errorf("%s%v, %d sent, %d dead", got, err, q.Len(), len(q.Dead()))
		}
		got, err = run(t, q, dlq.Command{Name: dlq.Redrive, IDs: []string{"m-1"}})
		if err != nil || q.Len() != 2 || len(q.Dead()) != 0 {
			t.Errorf("%s%v, %d sent, %d dead", got, err, q.Len(), len(q.Dead()))
		}
	})
}

// A letter that dies again during -all is not sent a second time, under an id of its
// own as SQS gives it, or under the message's.
func TestAllIsOnce(t *testing.T) {
	t.Parallel()
	for _, as := range []string{"", "renamed-"} {
		inBubble(t, func(t *testing.T, q *queue.Memory) {
			fails(t, q, "poison", "why")
			dying := hooked{Memory: q}
			dying.send = func(ctx context.Context, body string, attributes map[string]string) (string, error) {
				id, err := q.Send(ctx, body, attributes)
				received, _ := q.Receive(ctx, 1, 0)
				return id, errors.Join(err, q.Bury(ctx, received[0], "again"))
			}
			dying.receive = func(all []queue.Message, err error) ([]queue.Message, error) {
				for i := range all {
					if all[i].ID = as + all[i].ID; as == "" {
						delete(all[i].Attributes, queue.Delivery) // as for letters that SQS itself moved
					}
				}
				return all, err
			}
			got, err := run(t, dying, dlq.Command{Name: dlq.Redrive, All: true})
			if want := as + "m-1  is sent again as m-2\n" + as + "m-2  was sent again, and is dead again: again\n1 sent again, 1 not\n"; got != want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// Letters that somebody else has just received are waited for.
func TestWaitsForWhatIsHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []dlq.Command{{Name: dlq.List}, {Name: dlq.Show, IDs: []string{"m-1"}}, {Name: dlq.Redrive, All: true}} {
		inBubble(t, func(t *testing.T, q *queue.Memory) {
			fails(t, q, "one", "why")
			if hidden, err := q.DeadLetters().Receive(t.Context(), 10, 3*time.Second); err != nil || len(hidden) != 1 {
				t.Fatal(hidden, err)
			}
			if got, err := run(t, q, c); err != nil || !strings.Contains(got, "m-1") {
				t.Errorf("%s: %q, %v", c.Name, got, err)
			}
		})
	}
}

// Many letters come in several batches, and come again when polls are slow;
// each is looked at once.
func TestManyLetters(t *testing.T) {
	t.Parallel()
	for poll, n := range map[time.Duration]int{100 * time.Millisecond: 95, 2 * time.Second: 15} {
		inBubble(t, func(t *testing.T, q *queue.Memory) {
			for range n {
				refused(t, q, update, "why")
			}
			slow := hooked{Memory: q, receive: func(all []queue.Message, err error) ([]queue.Message, error) {
				time.Sleep(poll)
				return all, err
			}}
			got, err := run(t, slow, dlq.Command{Name: dlq.List})
			if lines := strings.Count(got, "\n"); err != nil || lines != n+2 || !strings.Contains(got, fmt.Sprintf("\n%d dead letters. ", n)) {
				t.Errorf("%d lines, %v", lines, err)
			}
			if got, err := run(t, slow, dlq.Command{Name: dlq.Redrive, All: true}); err != nil || len(q.Dead()) != 0 || q.Len() != n {
				t.Errorf("%s %v, %d dead, %d sent", got, err, len(q.Dead()), q.Len())
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command dlq.Command
		want    string
	}{
		{dlq.Command{}, "dlq: say what to do: list, show or redrive"},
		{dlq.Command{Name: "lst"}, `"lst" is not list, show or redrive`},
		{dlq.Command{Name: "purge"}, `"purge" is not`},
		{dlq.Command{Name: dlq.List, IDs: []string{"x"}}, "takes no ids"},
		{dlq.Command{Name: dlq.List, All: true}, "-all is only for redrive"},
		{dlq.Command{Name: dlq.Show}, "takes one id"},
		{dlq.Command{Name: dlq.Show, IDs: []string{"x", "y"}}, "takes one id"},
		{dlq.Command{Name: dlq.Show, IDs: []string{""}}, "must not be empty"},
		{dlq.Command{Name: dlq.Redrive}, "takes ids, or -all"},
		{dlq.Command{Name: dlq.Redrive, All: true, IDs: []string{"x"}}, "takes ids, or -all"},
	} {
		for _, err := range []error{tc.command.Check(), tc.command.Run(t.Context(), nil, nil), dlq.Remote{}.Run(t.Context(), tc.command, nil)} {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%+v: %v", tc.command, err)
			}
		}
	}
}
