package histories_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// ledgerStory is about workers that claim keys, crash, come too late, and meet
// older systems.
type ledgerStory struct {
	w        *world
	keys     []string
	attempts int64
	bare     string // the key of the last row of an older system
	forgets  bool   // then nobody erases: erasing a claim and then forgetting its row would free a key whose holder may still work
	stores   []*ledger.Operators
	grants   []*grant
	seen     []ledger.Record // by operators
	results  int

	guards map[string]int64 // how often somebody wrote below a key

	release func() // of the reads that are held, nil if they follow the table
	heldAt  int64  // when they began to be held, or long after the end

	spent   *counter.Store  // by the work, on a network without faults
	charged map[string]bool // the keys, each with the time at which it was first seen
}

// grant is a claim and its holder.
type grant struct {
	caller  *caller
	part    *part // the part that was granted
	claim   *ledger.Claim
	nonce   string
	fence   int64
	ctx     context.Context // the work's context, under Do
	leaving bool            // the holder is giving it up
	settled bool            // the holder has settled it
}

// effects is the table of what work does in transactions.
const effects = "effects"

func newLedger(w *world) story {
	s := &ledgerStory{w: w, attempts: 3 + w.rnd.Int64N(3), forgets: w.rnd.IntN(2) == 0, charged: map[string]bool{}, guards: map[string]int64{}, heldAt: 1 << 62}
	var err error
	if s.spent, err = counter.New(w.raw, "spent", tzclock.UTC, &counter.Config{Now: w.clock}); err != nil {
		panic(err)
	}
	for k := range 1 + w.rnd.IntN(2) {
		s.keys = append(s.keys, fmt.Sprintf("ORDER:%d", k+1))
	}
	for _, c := range w.callers {
		store, err := ledger.New(c.client, "ledger", &ledger.Config{
			Now: c.now, Rand: c.random, Retention: ledgerRetention, Lease: ledgerLease, MaxSkew: ledgerSkew, MaxAttempts: int(s.attempts),
		})
		if err != nil {
			panic(err)
		}
		ops, err := store.Operators(c.client)
		if err != nil {
			panic(err)
		}
		s.stores = append(s.stores, ops)
	}
	return s
}

func (s *ledgerStory) tables() []schema.Table {
	return []schema.Table{s.stores[0].Table(), {Name: effects, Key: schema.Key{Partition: schema.String("pk")}}, s.spent.Table()}
}

func (*ledgerStory) keyOf(r row) string { return str(r, "pk") }

// delay is less than Grace, so that a row is not deleted while a request from
// its lifetime is under way.
func (*ledgerStory) delay() time.Duration { return 40 * time.Minute }

func (s *ledgerStory) keen(c *caller) bool { return len(s.grantsOf(c)) > 0 }

// waited is true for the request of a claim on which its holder may still rely,
// and for a refused transaction while the work tries again.
func (s *ledgerStory) waited(f *flight) bool {
	if in, ok := f.part.in.(settles); ok && in.what == "Transact" {
		return in.claim.ctx.Err() == nil
	}
	if _, ok := f.part.in.(claims); !ok {
		return false
	}
	return slices.ContainsFunc(s.grants, func(g *grant) bool { return g.part == f.part && !g.settled })
}

func (*ledgerStory) leaps() []time.Duration {
	lapse := ledgerLease + ledgerSkew
	return []time.Duration{lapse - clockRange, lapse + 2*clockRange, lapse + 2*clockRange, ledgerRetention, ledgerRetention + time.Hour + 2*clockRange}
}

func (s *ledgerStory) begin() []*call {
	for _, key := range s.keys {
		if s.w.rnd.IntN(2) == 0 {
			s.turnGate(key)
		}
	}
	return nil
}

func (s *ledgerStory) next(c *caller) *call {
	key := pick(s.w.rnd, s.keys)
	payload := "a"
	if s.w.rnd.IntN(20) == 0 {
		payload = "b"
	}
	mine := s.grantsOf(c)
	switch roll := s.w.rnd.IntN(100); {
	case s.bare != "" && s.w.rnd.IntN(8) == 0:
		return c.backfill(s.bare, s.stores[c.id].Backfill)
	case roll < 4:
		return s.mark(c, key)
	case roll < 12:
		return s.read(c, key)
	case roll < 28:
		return s.do(c, key, payload)
	case roll >= 39 && roll < 45:
		return s.hold(c, key, payload)
	case roll < 31 && len(s.seen) > 0:
		return s.reopen(c)
	case roll >= 31 && roll < 35 && len(s.tokens()) > 0:
		return s.resume(c)
	case roll >= 35 && roll < 39 && s.forgets && len(s.seen) > 0:
		return s.forget(c)
	case roll == 35 && !s.forgets:
		return s.erase(c, key)
	case roll < 70 && len(mine) > 0:
		return s.settle(pick(s.w.rnd, mine))
	case roll < 75 && len(mine) > 0:
		return s.check(pick(s.w.rnd, mine))
	}
	req := s.request(key, payload)
	return s.claiming(c, req, func(ctx context.Context) any {
		claim, err := s.stores[c.id].Claim(ctx, req)
		if err != nil {
			return refusal(err)
		}
		_, out := s.grant(c, claim)
		return out
	})
}

// request may wait for the key, and may read first.
func (s *ledgerStory) request(key, payload string) ledger.Request {
	return ledger.Request{
		Key: key, Payload: []byte(payload), ReadFirst: s.w.rnd.IntN(4) == 0,
		WaitUpTo: pick(s.w.rnd, []time.Duration{0, 0, 0, 0, 0, 200 * time.Millisecond, 3 * time.Second, time.Minute}),
	}
}

// claiming makes a call that begins with a claim. If the claim's answer may come
// from a first read, it is that of any moment since these reads were held.
func (s *ledgerStory) claiming(c *caller, req ledger.Request, do func(context.Context) any) *call {
	payload := string(req.Payload)
	return &call{caller: c, key: req.Key, in: claims{payload: payload}, do: func(ctx context.Context) any {
		p, since := c.current(), s.heldAt
		out := do(ctx)
		switch out.(type) {
		case done, permanent:
			if req.ReadFirst && c.current() == p {
				p.start = min(p.start, since)
			}
		}
		return out
	}}
}

// holdReads lets first reads show the table as it is now, or follows it again.
func (s *ledgerStory) holdReads() {
	if s.release != nil {
		s.release()
		s.release, s.heldAt = nil, 1<<62
		return
	}
	release, err := s.w.server.HoldReads("ledger")
	if err != nil {
		panic(err)
	}
	s.release, s.heldAt = release, 4*s.w.step.Load()
	s.w.note("", "first reads show this moment")
}

// grantsOf returns the claims on which the caller may still rely, the last
// three.
func (s *ledgerStory) grantsOf(c *caller) (mine []*grant) {
	for _, g := range s.grants {
		if g.caller == c && g.ctx == nil && !g.settled {
			mine = append(mine, g)
		}
	}
	return mine[max(0, len(mine)-3):]
}

// grant remembers a claim, and returns it with the answer.
func (s *ledgerStory) grant(c *caller, claim *ledger.Claim) (*grant, granted) {
	g := &grant{caller: c, part: c.current(), claim: claim, fence: claim.Fence}
	if a := s.w.written(g.part); a != nil {
		g.nonce = str(a.row, "claim")
	}
	s.w.mu.Lock()
	s.grants = append(s.grants, g)
	s.w.mu.Unlock()
	s.charge(claim)
	return g, granted{claim.Fence, claim.Attempt, claim.LeaseUntil().UnixMilli(), stamp(claim.SeenAt)}
}

// charge counts what the work does, under the claim's event.
func (s *ledgerStory) charge(claim *ledger.Claim) {
	ev, err := claim.Event()
	if err == nil {
		_, err = s.spent.Take(context.Background(), counter.Take{Key: claim.Key, Event: ev, Weight: 1, Cap: 1000})
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.charged[claim.Key+" "+stamp(claim.SeenAt)] = true
	if err != nil {
		s.w.broken = fmt.Sprintf("%s, seen at %v, is not charged: %v", claim.Key, claim.SeenAt, err)
	}
}

// chargedOnce compares what is counted with the lives of the keys: the attempts of
// one life count once.
func (s *ledgerStory) chargedOnce() string {
	out, err := s.w.raw.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("spent"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err.Error()
	}
	var counted int64
	for _, item := range out.Items {
		counted += num(item, "count")
	}
	if counted != int64(len(s.charged)) {
		return fmt.Sprintf("%d are counted for %d lives of the keys", counted, len(s.charged))
	}
	return ""
}

func (s *ledgerStory) result() string {
	s.results++
	return "r" + strconv.Itoa(s.results)
}

// settle renews, releases, completes or fails a claim.
func (s *ledgerStory) settle(g *grant) *call {
	in := settles{what: "Renew", claim: g}
	do := func(ctx context.Context) error { return g.claim.Renew(ctx) }
	switch roll := s.w.rnd.IntN(20); {
	case roll < 3:
		result := s.result()
		in.what, in.text = "Complete", strconv.Quote(result)
		do = func(ctx context.Context) error { return g.claim.Complete(ctx, result) }
	case roll < 5:
		in.what = "Release"
		do = func(ctx context.Context) error { return g.claim.Release(ctx) }
	case roll < 14:
		cause := errors.New("no connection")
		if roll < 9 {
			cause = errors.New(s.result())
		}
		in.what, in.text, in.forever = "Fail", cause.Error(), roll == 5
		if in.forever && s.results%2 == 0 { // a replay must return the same error
			cause = fmt.Errorf("%s: %w", cause, event.ErrTooOld)
			in.text = cause.Error()
		}
		if in.forever {
			cause = ledger.Permanent(cause)
		}
		do = func(ctx context.Context) error { return g.claim.Fail(ctx, cause) }
	}
	over := in.what != "Renew" && s.w.rnd.IntN(4) > 0 // the others try again if it fails
	return &call{caller: g.caller, key: g.claim.Key, in: in, do: func(ctx context.Context) any {
		g.settled, g.leaving = over, g.leaving || in.what != "Renew"
		return s.settled(g, in, do(ctx))
	}}
}

func (s *ledgerStory) settled(g *grant, in settles, err error) any {
	switch {
	case err != nil:
		out := refusal(err)
		if out != nil {
			g.settled, g.leaving = true, true
		}
		return out
	case in.what == "Renew":
		return held{g.claim.LeaseUntil().UnixMilli()}
	}
	g.settled = s.w.rnd.IntN(4) > 0 // the others do not know that it is over
	return held{}
}

func (s *ledgerStory) read(c *caller, key string) *call {
	return &call{caller: c, key: key, in: reads{}, do: func(ctx context.Context) any {
		r, ok, err := s.stores[c.id].Get(ctx, key)
		switch {
		case err != nil:
			return nil
		case !ok:
			return absent{}
		}
		s.w.mu.Lock()
		s.seen = append(s.seen, r)
		s.w.mu.Unlock()
		out := ledgerRow{
			state: r.State, fence: r.Fence, attempts: r.Attempts,
			expires: max(0, r.ExpiresAt.Unix()), payload: string(r.Fingerprint), result: string(r.Result), seen: stamp(r.SeenAt),
		}
		if !r.Lease.IsZero() {
			out.lease = r.Lease.UnixMilli()
		}
		return found{out}
	}}
}

// intrude marks a key as an older system does, and may open or close a gate.
func (l *ledgerStory) intrude() {
	if l.w.rnd.IntN(2) == 0 {
		l.turnGate(pick(l.w.rnd, l.keys))
	}
	if l.w.rnd.IntN(2) == 0 {
		l.holdReads()
	}
	left := row{
		"pk": s(pick(l.w.rnd, l.keys)), "source": s("ORDER"),
		"expiresAt": n(l.w.clock().Add(time.Duration(l.w.rnd.IntN(20)) * time.Minute).Unix()),
	}
	if l.w.rnd.IntN(2) == 0 { // which never expires
		delete(left, "expiresAt")
		left["seenAt"] = s(l.w.clock().UTC().Format(time.RFC3339))
	}
	_, err := l.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("ledger"), Item: left, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if err == nil {
		l.bare = l.keyOf(left)
		l.w.happened(l.bare, olderRow{}, left)
	}
}

// wrong names two callers that both believe that they hold a key, or a key below which
// somebody wrote who did not hold it.
func (s *ledgerStory) wrong() string {
	for i, a := range s.grants {
		for _, b := range s.grants[:i] {
			if a.claim.Key == b.claim.Key && a.believes() && b.believes() {
				return fmt.Sprintf("callers %d and %d both hold %s, by fences %d and %d", b.caller.id, a.caller.id, a.claim.Key, b.fence, a.fence)
			}
		}
	}
	return s.unguarded()
}

func (g *grant) believes() bool {
	return !g.leaving && (g.ctx == nil || g.ctx.Err() == nil) && g.caller.time().Before(g.claim.LeaseUntil())
}

func (s *ledgerStory) end() []*call {
	var calls []*call
	for _, key := range s.keys {
		calls = append(calls, s.read(s.w.callers[0], key))
	}
	return calls
}

func (s *ledgerStory) verdict() string { return cmp.Or(s.w.effectsOnce(), s.chargedOnce()) }

// effectsOnce counts the effects that were written in transactions.
func (w *world) effectsOnce() string {
	out, err := w.raw.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(effects), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err.Error()
	}
	want := map[string]int64{}
	for _, a := range w.arrivals {
		if a.flight.Op == "TransactWriteItems" {
			want[a.flight.part.key]++
		}
	}
	for _, item := range out.Items {
		key := str(item, "pk")
		if strings.HasPrefix(key, gatePrefix) || strings.HasPrefix(key, guardPrefix) {
			continue
		}
		if got := num(item, "times"); got != want[key] {
			return fmt.Sprintf("the effect of %s happened %d times, and %d transactions wrote it", key, got, want[key])
		}
		delete(want, key)
	}
	if len(want) > 0 {
		return fmt.Sprintf("effects that nobody sees: %v", want)
	}
	return ""
}

// mark marks a key, alone or together with an effect.
func (s *ledgerStory) mark(c *caller, key string) *call {
	in := mark{item: s.w.rnd.IntN(2) == 0}
	return &call{caller: c, key: key, in: in, do: func(ctx context.Context) any {
		if in.item {
			return marked(s.markItem(ctx, c, key))
		}
		return marked(s.stores[c.id].MarkSeen(ctx, key))
	}}
}

// markItem sends its transaction up to three times unchanged while the outcome is
// unknown. The mark is anywhere among the other actions, of which a gate may refuse
// one.
func (s *ledgerStory) markItem(ctx context.Context, c *caller, key string) (event.Outcome, error) {
	item, err := s.stores[c.id].MarkItem(key)
	if err != nil {
		return 0, err
	}
	actions := []types.TransactWriteItem{effectOn(key)}
	if s.w.rnd.IntN(3) == 0 {
		actions = append(actions, gateOf(key))
	}
	at := s.w.rnd.IntN(len(actions) + 1)
	in := &dynamodb.TransactWriteItemsInput{TransactItems: slices.Insert(actions, at, item.Item)}
	for range 3 {
		_, err = c.client.TransactWriteItems(ctx, in)
		var cancelled *types.TransactionCanceledException
		if err == nil {
			return event.Created, nil
		}
		if errors.As(err, &cancelled) && at < len(cancelled.CancellationReasons) {
			if out, err := item.Outcome(cancelled.CancellationReasons[at]); out != 0 && err == nil {
				return out, nil
			}
		}
	}
	return 0, err
}

func marked(out event.Outcome, err error) any {
	switch {
	case err != nil:
		return nil
	case out == event.Created:
		return created{}
	}
	return duplicate{}
}

// refusal returns the answer in an error, or nil.
func refusal(err error) any {
	var inProgress *ledger.InProgressError
	var ended *ledger.DoneError
	var never *ledger.PermanentError
	switch {
	case errors.As(err, &inProgress):
		return busy{inProgress.Wait}
	case errors.As(err, &ended):
		return done{string(ended.Record.Result)}
	case errors.As(err, &never):
		if errors.Is(err, event.ErrTooOld) != strings.HasSuffix(never.Message, event.ErrTooOld.Error()) {
			return permanent{"another error than the first time"}
		}
		return permanent{never.Message}
	case errors.Is(err, ledger.ErrTooManyAttempts):
		return tooMany{}
	case errors.Is(err, ledger.ErrFingerprintMismatch):
		return mismatch{}
	case errors.Is(err, ledger.ErrLeaseLost):
		return lost{}
	}
	return nil
}
