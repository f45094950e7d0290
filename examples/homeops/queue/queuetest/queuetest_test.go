package queuetest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue/queuetest"
)

// inProcess is the queue inside the process, which has no differences.
var inProcess = queuetest.Backend{Bubble: true, New: func(_ *testing.T, s queuetest.Settings) queue.Queue { return newMemory(s) }}

func newMemory(s queuetest.Settings) *queue.Memory {
	return queue.NewMemory(queue.Config{Visibility: s.Visibility, MaxReceives: s.MaxReceives, MaxBytes: s.MaxBytes})
}

// broken is a queue whose methods a function may replace.
type broken struct {
	*queue.Memory
	send    func(ctx context.Context, body string, attributes map[string]string) (string, error)
	receive func(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error)
	delete  func(ctx context.Context, receipt string) error
	release func(ctx context.Context, receipt string, after time.Duration) error
	refuse  func(ctx context.Context, body []byte, attributes map[string]string, reason string) error
	bury    func(ctx context.Context, m queue.Message, reason string) error
	depth   func(ctx context.Context) (queue.Depth, error)
	letters letters
}

type letters struct {
	queue.DeadLetters
	receive func(ctx context.Context, max int, hidden time.Duration) ([]queue.Message, error)
	delete  func(ctx context.Context, receipt string) error
}

func (q *broken) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	return q.send(ctx, body, attributes)
}

func (q *broken) Receive(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
	return q.receive(ctx, max, wait)
}
func (q *broken) Delete(ctx context.Context, receipt string) error { return q.delete(ctx, receipt) }
func (q *broken) Release(ctx context.Context, receipt string, after time.Duration) error {
	return q.release(ctx, receipt, after)
}

func (q *broken) Refuse(ctx context.Context, body []byte, attributes map[string]string, reason string) error {
	return q.refuse(ctx, body, attributes, reason)
}

func (q *broken) Bury(ctx context.Context, m queue.Message, reason string) error {
	return q.bury(ctx, m, reason)
}
func (q *broken) Depth(ctx context.Context) (queue.Depth, error) { return q.depth(ctx) }
func (q *broken) DeadLetters() queue.DeadLetters                 { return q.letters }

func (l letters) Receive(ctx context.Context, max int, hidden time.Duration) ([]queue.Message, error) {
	return l.receive(ctx, max, hidden)
}
func (l letters) Delete(ctx context.Context, receipt string) error { return l.delete(ctx, receipt) }

// breaking returns the queue inside the process, broken in one way.
func breaking(way func(*broken)) queuetest.Backend {
	return queuetest.Backend{Bubble: true, New: func(_ *testing.T, s queuetest.Settings) queue.Queue {
		m := newMemory(s)
		dead := m.DeadLetters()
		q := &broken{
			m, m.Send, m.Receive, m.Delete, m.Release, m.Refuse, m.Bury, m.Depth,
			letters{dead, dead.Receive, dead.Delete},
		}
		way(q)
		return q
	}}
}

// failing returns which tests of the suite fail.
func failing(t *testing.T, b queuetest.Backend) []string {
	t.Helper()
	var names []string
	for _, test := range queuetest.Tests() {
		if b.Judge(t, test) != nil {
			names = append(names, test.Name)
		}
	}
	return names
}

// each changes what is received.
func each(change func(*queue.Message)) func(*broken) {
	return func(q *broken) {
		whole := q.receive
		q.receive = func(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
			batch, err := whole(ctx, max, wait)
			for i := range batch {
				change(&batch[i])
			}
			return batch, err
		}
	}
}

// A queue that does one thing wrong fails at least these tests.
func TestABrokenQueueFails(t *testing.T) {
	t.Parallel()
	untried := map[string]bool{} // tests that no queue here fails
	for _, test := range queuetest.Tests() {
		untried[test.Name] = true
	}
	for name, c := range map[string]struct {
		way  func(*broken)
		want []string
	}{
		"another id":           {each(func(m *queue.Message) { m.ID += "x" }), []string{"Delivery"}},
		"no receipt":           {each(func(m *queue.Message) { m.Receipt = "" }), []string{"Delivery", "ReleaseAtOnce"}},
		"another body":         {each(func(m *queue.Message) { m.Body = strings.TrimSpace(m.Body) }), []string{"Text"}},
		"no attributes":        {each(func(m *queue.Message) { m.Attributes = nil }), []string{"Delivery"}},
		"no receives":          {each(func(m *queue.Message) { m.Receives = 1 }), []string{"Hidden", "ReleaseAtOnce", "Redriven"}},
		"another MaxReceives":  {each(func(m *queue.Message) { m.MaxReceives = queue.MaxReceives }), []string{"Delivery", "Redriven"}},
		"no MaxReceives":       {each(func(m *queue.Message) { m.MaxReceives = 0 }), []string{"Delivery", "Redriven"}},
		"seconds for a time":   {each(func(m *queue.Message) { m.SentAt = time.UnixMilli(m.SentAt.Unix()) }), []string{"Delivery"}},
		"hides nothing":        {hidesNothing, []string{"Hidden", "ConcurrentReceivers"}},
		"deletes nothing":      {func(q *broken) { q.delete = func(context.Context, string) error { return nil } }, []string{"Delete", "GoneReceipts"}},
		"releases nothing":     {func(q *broken) { q.release = noRelease }, []string{"ReleaseAtOnce", "Redriven"}},
		"releases at once":     {releasesAtOnce, []string{"ReleaseLater", "ReleaseFarAhead"}},
		"an error for a stale": {staleIsAnError, []string{"GoneReceipts", "Buried"}},
		"a batch too many":     {func(q *broken) { whole := q.receive; q.receive = moreThanAsked(whole) }, []string{"Batch"}},
		"never waits":          {neverWaits, []string{"EmptyQueue", "WakesForASend", "EndsWhileWaiting"}},
		"ignores its context":  {ignoresContext, []string{"EndedContext", "EndsWhileWaiting"}},
		"checks nothing":       {checksNothing, []string{"BadCharacters", "TooLarge"}},
		"sends what is empty":  {sendsEmpty, []string{"EmptyAttributes"}},
		"keeps no reason":      {func(q *broken) { q.bury = noReason(q.bury) }, []string{"Buried", "BuriedForAnyReason"}},
		"buries, keeps":        {buriesAndKeeps, []string{"Buried", "SentAgain"}},
		"refuses as text":      {refusesAsText, []string{"Refused", "RefusedTooLarge"}},
		"refuses into queue":   {refusesIntoQueue, []string{"Refused", "Depth"}},
		"letters never hidden": {lettersNeverHidden, []string{"LettersAreHidden", "BatchOfLetters"}},
		"letters stay":         {func(q *broken) { q.letters.delete = func(context.Context, string) error { return nil } }, []string{"LetterDeleted"}},
		"a letter's receipt":   {letterReceipts, []string{"GoneLetterReceipts"}},
		"nothing is moved":     {nothingIsMoved, []string{"Redriven", "RedrivenWhenHiddenTooOften"}},
		"counts no dead":       {countsNoDead, []string{"Depth"}},
		"any receipt deletes":  {anyReceiptDeletes, []string{"StaleDelete"}},
		"shares a map":         {sharesAttributes, []string{"AttributesAreCopied"}},
		"cuts what is large":   {each(func(m *queue.Message) { m.Body = m.Body[:min(len(m.Body), 200_000)] }), []string{"OfTheGreatestSize"}},
	} {
		for _, name := range c.want {
			delete(untried, name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := failing(t, breaking(c.way))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%s passes; what fails is %q", want, got)
				}
			}
		})
	}
	if len(untried) > 0 {
		t.Errorf("no broken queue is meant for %v", untried)
	}
}

func noRelease(context.Context, string, time.Duration) error { return nil }

func hidesNothing(q *broken) {
	whole := q.receive
	q.receive = func(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
		batch, err := whole(ctx, max, wait)
		for _, m := range batch {
			_ = q.Memory.Release(ctx, m.Receipt, 0)
		}
		return batch, err
	}
}

func releasesAtOnce(q *broken) {
	q.release = func(ctx context.Context, receipt string, _ time.Duration) error {
		return q.Memory.Release(ctx, receipt, 0)
	}
}

func staleIsAnError(q *broken) {
	q.delete = func(ctx context.Context, receipt string) error {
		for _, m := range q.Left() {
			if m.Receipt == receipt {
				return q.Memory.Delete(ctx, receipt)
			}
		}
		return errors.New("stale")
	}
}

func moreThanAsked(whole func(context.Context, int, time.Duration) ([]queue.Message, error)) func(context.Context, int, time.Duration) ([]queue.Message, error) {
	return func(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
		return whole(ctx, max+1, wait)
	}
}

func neverWaits(q *broken) {
	q.receive = func(ctx context.Context, max int, _ time.Duration) ([]queue.Message, error) {
		return q.Memory.Receive(ctx, max, 0)
	}
}

func ignoresContext(q *broken) {
	q.receive = func(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
		return q.Memory.Receive(context.WithoutCancel(ctx), max, wait)
	}
}

func checksNothing(q *broken) {
	anything := queue.NewMemory(queue.Config{})
	q.send = func(ctx context.Context, body string, attributes map[string]string) (string, error) {
		if queue.Check(body, attributes, queue.MaxBytes) != nil {
			body, attributes = "anything", nil
		}
		return anything.Send(ctx, body, attributes)
	}
	q.receive = anything.Receive
}

func sendsEmpty(q *broken) {
	q.send = func(ctx context.Context, body string, attributes map[string]string) (string, error) {
		attributes = maps.Clone(attributes)
		for name, value := range attributes {
			if value == "" {
				attributes[name] = "null"
			}
		}
		return q.Memory.Send(ctx, body, attributes)
	}
}

func noReason(whole func(context.Context, queue.Message, string) error) func(context.Context, queue.Message, string) error {
	return func(ctx context.Context, m queue.Message, _ string) error { return whole(ctx, m, "dead") }
}

func buriesAndKeeps(q *broken) {
	q.bury = func(ctx context.Context, m queue.Message, reason string) error {
		m.Receipt = ""
		return q.Memory.Bury(ctx, m, reason)
	}
}

func refusesAsText(q *broken) {
	q.refuse = func(ctx context.Context, body []byte, attributes map[string]string, reason string) error {
		return q.Memory.Bury(ctx, queue.Message{Body: string(body), Attributes: attributes}, reason)
	}
}

func refusesIntoQueue(q *broken) {
	q.refuse = func(ctx context.Context, body []byte, attributes map[string]string, reason string) error {
		text, attributes := queue.Refusal(body, attributes, reason, queue.MaxBytes)
		_, err := q.Memory.Send(ctx, text, attributes)
		return err
	}
}

func lettersNeverHidden(q *broken) {
	whole := q.letters.receive
	q.letters.receive = func(ctx context.Context, max int, _ time.Duration) ([]queue.Message, error) {
		return whole(ctx, max, 0)
	}
}

func letterReceipts(q *broken) {
	whole, gone := q.letters.delete, map[string]bool{}
	q.letters.delete = func(ctx context.Context, receipt string) error {
		if gone[receipt] {
			return errors.New("stale")
		}
		gone[receipt] = true
		return whole(ctx, receipt)
	}
}

func nothingIsMoved(q *broken) {
	q.letters.receive = func(context.Context, int, time.Duration) ([]queue.Message, error) { return nil, nil }
}

func countsNoDead(q *broken) {
	q.depth = func(ctx context.Context) (queue.Depth, error) {
		depth, err := q.Memory.Depth(ctx)
		depth.Dead = 0
		return depth, err
	}
}

func anyReceiptDeletes(q *broken) {
	q.delete = func(ctx context.Context, receipt string) error {
		id, _, _ := strings.Cut(receipt, "/")
		for _, m := range q.Left() {
			if m.ID == id {
				receipt = m.Receipt
			}
		}
		return q.Memory.Delete(ctx, receipt)
	}
}

func sharesAttributes(q *broken) {
	var shared map[string]string
	q.send = func(ctx context.Context, body string, attributes map[string]string) (string, error) {
		shared = attributes
		return q.Memory.Send(ctx, body, attributes)
	}
	each(func(m *queue.Message) { m.Attributes = shared })(q)
}

// A difference that is listed must show, in the words that are listed for it.
func TestDifferences(t *testing.T) {
	t.Parallel()
	of := func(name string) queuetest.Test {
		tests := queuetest.Tests()
		return tests[slices.IndexFunc(tests, func(test queuetest.Test) bool { return test.Name == name })]
	}
	listed := func(b queuetest.Backend, all ...queuetest.Difference) queuetest.Backend {
		b.Differences = all
		return b
	}
	noWait := breaking(neverWaits)
	known := queuetest.Difference{Test: "EmptyQueue", Says: "waited for", Reason: "it never waits"}
	if err := noWait.Judge(t, of("EmptyQueue")); err == nil || !strings.Contains(err.Error(), "waited for") {
		t.Errorf("a failure that is not listed: %v", err)
	}
	if err := listed(noWait, known).Judge(t, of("EmptyQueue")); err != nil {
		t.Errorf("a failure that is listed: %v", err)
	}
	if err := listed(inProcess, known).Judge(t, of("EmptyQueue")); err == nil || !strings.Contains(err.Error(), "remove its difference") {
		t.Errorf("a difference that has vanished: %v", err)
	}
	known.Sometimes = true
	for _, b := range []queuetest.Backend{noWait, inProcess} {
		if err := listed(b, known).Judge(t, of("EmptyQueue")); err != nil {
			t.Errorf("a difference of sometimes: %v", err)
		}
	}
	known.Sometimes = false
	if err := listed(noWait, known).Judge(t, of("WakesForASend")); err == nil {
		t.Error("a difference covers another test")
	}
	known.Says = "something else"
	if err := listed(noWait, known).Judge(t, of("EmptyQueue")); err == nil || !strings.Contains(err.Error(), "waited for") {
		t.Errorf("another failure than is listed: %v", err)
	}
	known.Says = "waited for"
	if err := listed(noWait, known).Check(); err != nil {
		t.Error(err)
	}
	for name, all := range map[string][]queuetest.Difference{
		"an unknown test": {{Test: "EmptyQeue", Says: "waited", Reason: "it never waits"}},
		"listed twice":    {known, known},
		"no reason":       {{Test: "EmptyQueue", Says: "waited"}},
		"no words":        {{Test: "EmptyQueue", Reason: "it never waits"}},
	} {
		if listed(noWait, all...).Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
