package histories_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// ledgerRow is a key of the ledger. Without a row it has no state.
type ledgerRow struct {
	state                           ledger.State
	owner                           string // nonce of the writer, "" for an older system
	fence, attempts, lease, expires int64
	payload                         string // fingerprint
	result, failure                 string
	seen                            string // when the key was first seen

	top       int64 // the highest fence so far, even of deleted rows
	forgotten int64 // when the last row was forgotten, in ms: claims under way then, and all that follow, may have lower fences
}

// These are the calls of the ledger.
type (
	mark   struct{ item bool } // in a transaction
	claims struct {
		payload string
		lock    bool // by Hold, which does not count attempts
	}
	// settles is what the holder of a part's claim does.
	settles struct {
		what    string // Renew, Release, Complete, Fail, Check; Work, GiveUp and Transact under Do and DoTx
		claim   *grant
		text    string // result or error
		forever bool   // a permanent error
		beats   bool   // under the heartbeat of Do
	}
	reads    struct{}
	olderRow struct{}
)

func (m mark) String() string {
	if m.item {
		return "MarkItem"
	}
	return "MarkSeen"
}

func (c claims) String() string {
	if c.lock {
		return "Hold(payload " + c.payload + ")"
	}
	return "Claim(payload " + c.payload + ")"
}

func (reads) String() string    { return "Get" }
func (olderRow) String() string { return "an older system marks the key" }
func (s settles) String() string {
	return fmt.Sprintf("%s(%s)", s.what, strings.TrimSpace(fmt.Sprintf("fence …%05d %s", s.claim.fence%100_000, s.text)))
}

// These are the ledger's answers.
type (
	created   struct{}
	duplicate struct{}
	granted   struct {
		fence, attempt, lease int64
		seen                  string
	}
	busy      struct{ wait time.Duration }
	done      struct{ result string }
	permanent struct{ failure string }
	tooMany   struct{}
	mismatch  struct{}
	held      struct{ lease int64 } // Renew, Complete and Fail succeeded
	lost      struct{}
	refused   struct{} // a transaction with the completion
	found     struct{ ledgerRow }
	absent    struct{}
)

func (created) String() string   { return "created" }
func (duplicate) String() string { return "duplicate" }
func (g granted) String() string {
	return fmt.Sprintf("granted: fence …%05d, attempt %d", g.fence%100_000, g.attempt)
}
func (b busy) String() string      { return fmt.Sprintf("in progress, wait %v", b.wait) }
func (d done) String() string      { return fmt.Sprintf("done: %q", d.result) }
func (p permanent) String() string { return fmt.Sprintf("permanent: %q", p.failure) }
func (tooMany) String() string     { return "too many attempts" }
func (mismatch) String() string    { return "another payload" }
func (held) String() string        { return "ok" }
func (lost) String() string        { return "lease lost" }
func (refused) String() string     { return "cancelled: the claim is not held" }
func (absent) String() string      { return "absent" }
func (f found) String() string {
	return fmt.Sprintf("%s: fence …%05d, attempts %d, result %q", f.state, f.fence%100_000, f.attempts, f.result)
}

const (
	ledgerLease     = 10 * time.Minute
	ledgerSkew      = 2 * clockRange
	ledgerRetention = 30 * time.Minute
)

func (*ledgerStory) fresh() any { return ledgerRow{} }

func (s *ledgerStory) apply(state any, m *move) (any, bool) {
	stood := state.(ledgerRow)
	switch in := m.in.(type) {
	case sweep:
		return ledgerRow{top: stood.top, forgotten: stood.forgotten}, stood.state != "" && stood.expires <= in.at
	case olderRow:
		left := decodeLedger(m.row)
		left.top, left.forgotten = stood.top, stood.forgotten
		return left, stood.state == ""
	case forgets:
		return in.apply(stood, m)
	case backfills:
		left := stood
		if m.row != nil {
			left.expires = num(m.row, "expiresAt")
		}
		return left, s.backfilled(stood, left, m)
	}
	if m.row == nil {
		return stood, slices.ContainsFunc(m.clocks, func(now time.Time) bool { return s.answers(stood, m, now) })
	}
	left := decodeLedger(m.row)
	left.forgotten = stood.forgotten
	if _, claim := m.in.(claims); claim && m.born.UnixMilli() < stood.forgotten {
		stood.top = 0
	}
	left.top = max(stood.top, left.fence)
	return left, slices.ContainsFunc(m.clocks, func(now time.Time) bool { return s.writes(stood, left, m, now) }) && s.tells(left, m)
}

// expired reports whether the row counts as absent for a clock that says now.
func (r ledgerRow) expired(now time.Time) bool {
	if r.state == "" {
		return true
	}
	if r.owner == "" {
		return r.expires != 0 && r.expires <= now.Unix()
	}
	return r.expires-int64(time.Hour/time.Second) <= now.Unix()
}

// lapsed reports whether nobody may rely on the row's lease any more.
func (r ledgerRow) lapsed(now time.Time) bool { return r.lease <= now.Add(-ledgerSkew).UnixMilli() }

func (r ledgerRow) heldBy(g *grant) bool {
	return r.state == ledger.Claimed && r.owner == g.nonce && r.fence == g.fence
}

// writes reports whether the move may have turned one row into the other, for
// a caller whose clock says now.
func (s *ledgerStory) writes(stood, left ledgerRow, m *move, now time.Time) bool {
	if in, ok := m.in.(erases); ok {
		return in.writes(stood, left)
	}
	fresh := false // the key is seen for the first time
	switch m.in.(type) {
	case mark, claims:
		fresh = left.state != ledger.Failed && stood.expired(now)
	}
	if fresh && left.seen != stamp(now) || !fresh && left.seen != stood.seen {
		return false // the attempts of a key would have several events
	}
	if left.expires != now.Add(ledgerRetention+time.Second-1).Unix()+int64(time.Hour/time.Second) {
		return false // another reading of the clock
	}
	switch in := m.in.(type) {
	case mark:
		return left.state == ledger.Done && stood.expired(now)
	case claims:
		if left.state == ledger.Failed { // the caller's context ended, and it gave up a claim that it may have got
			return stood.state == ledger.Claimed && stood.owner == left.owner && left.attempts == stood.attempts-1
		}
		return s.mayClaim(stood, left, in, now)
	case reopens:
		return in.writes(stood, left, now)
	case resumes:
		return in.writes(stood, left, now)
	case settles:
		if !stood.heldBy(in.claim) || left.owner != stood.owner || left.fence != stood.fence {
			return false
		}
		switch left.state {
		case ledger.Claimed:
			return (in.what == "Renew" || in.beats) && left.lease == now.Add(ledgerLease).UnixMilli() &&
				left.lease >= stood.lease && left.attempts == stood.attempts
		case ledger.Done:
			return (in.what == "Complete" || in.what == "Transact") && left.result == in.text
		case ledger.Refused:
			return in.what == "Fail" && in.forever && left.failure == in.text
		}
		counts := left.attempts == stood.attempts
		withdrawn := (in.what == "GiveUp" || in.what == "Release" || in.what == "Transact") && left.attempts == stood.attempts-1
		return withdrawn || counts && (in.what == "Fail" && !in.forever || in.what == "GiveUp" || in.what == "Transact")
	}
	return false
}

func (s *ledgerStory) mayClaim(stood, left ledgerRow, in claims, now time.Time) bool {
	if left.state != ledger.Claimed || left.lease != now.Add(ledgerLease).UnixMilli() ||
		left.payload != fingerprint(in.payload) || left.result != "" || left.fence <= stood.top {
		return false
	}
	if stood.expired(now) {
		return left.attempts == 1
	}
	free := stood.state == ledger.Failed || stood.state == ledger.Claimed && stood.lapsed(now)
	return free && stood.payload == left.payload && stood.owner != left.owner &&
		(in.lock || stood.attempts < s.attempts) && left.attempts == stood.attempts+1
}

// tells reports whether the answer fits the write.
func (s *ledgerStory) tells(left ledgerRow, m *move) bool {
	switch out := m.out.(type) {
	case nil: // nobody heard it
		return true
	case created:
		_, ok := m.in.(mark)
		return ok
	case reopened:
		_, ok := m.in.(reopens)
		return ok
	case emptied:
		_, ok := m.in.(erases)
		return ok
	case granted:
		return left.state == ledger.Claimed && out == granted{left.fence, left.attempts, left.lease, left.seen}
	case held:
		in := m.in.(settles)
		return in.what != "Renew" || out.lease == left.lease
	}
	return false
}

// answers reports whether the answer fits a row that the move did not change.
func (s *ledgerStory) answers(stood ledgerRow, m *move, now time.Time) bool {
	switch in := m.in.(type) {
	case mark:
		own := m.earlier != nil && str(m.earlier, "claim") == stood.owner
		again := in.item && m.earlier != nil // the same transaction, even if others followed it
		return m.out == created{} && (own || again) || m.out == duplicate{} && !own && !stood.expired(now)
	case claims:
		own := m.earlier != nil && stood.owner == str(m.earlier, "claim") && stood.state == ledger.Claimed
		if out, ok := m.out.(granted); ok || own { // an earlier attempt of the call
			return own && out == granted{stood.fence, stood.attempts, stood.lease, stood.seen}
		}
		return !stood.expired(now) && m.out == s.refusal(stood, in, now)
	case settles:
		if m.out == (refused{}) {
			return !stood.heldBy(in.claim)
		}
		if in.what == "Check" && m.out == (held{}) { // it changes nothing
			return stood.heldBy(in.claim)
		}
		return m.out == settled(stood, in)
	case reopens:
		return m.out == in.told(stood, m, now)
	case resumes:
		return m.out == in.told(stood, m)
	case erases:
		return m.out == noRow{} && stood.state == ""
	case reads:
		if stood.expired(now) {
			return m.out == absent{}
		}
		out, ok := m.out.(found)
		return ok && out.ledgerRow == stood.record()
	}
	return false
}

// refusal is a live row's answer to a claim.
func (s *ledgerStory) refusal(stood ledgerRow, in claims, now time.Time) any {
	switch {
	case stood.payload != "" && stood.payload != fingerprint(in.payload):
		return mismatch{}
	case stood.state == ledger.Done:
		return done{stood.result}
	case stood.state == ledger.Refused:
		return permanent{stood.failure}
	case stood.state == ledger.Claimed && !stood.lapsed(now):
		return busy{time.UnixMilli(stood.lease).Add(ledgerSkew).Sub(now)}
	case stood.attempts >= s.attempts && !in.lock:
		return tooMany{}
	}
	return nil // it is granted
}

// settled is the answer of a row that a holder's call does not change.
func settled(stood ledgerRow, in settles) any {
	mine := stood.owner == in.claim.nonce && stood.fence == in.claim.fence
	switch {
	case !mine:
		return lost{}
	case stood.state == ledger.Claimed && in.what == "Renew": // a later renewal is stored
		return held{stood.lease}
	case stood.state == ledger.Failed && in.what == "Release" && stood.attempts < in.claim.claim.Attempt,
		stood.state == ledger.Done && (in.what == "Complete" || in.what == "Transact") && stood.result == in.text,
		stood.state == ledger.Refused && in.what == "Fail" && in.forever && stood.failure == in.text,
		stood.state == ledger.Failed && in.what == "Fail" && !in.forever && stood.failure == in.text && stood.attempts == in.claim.claim.Attempt:
		return held{}
	case stood.state == ledger.Done:
		return done{stood.result}
	case stood.state == ledger.Refused:
		return permanent{stood.failure}
	case stood.state == ledger.Failed:
		return lost{}
	}
	return nil // it changes the row
}

// record is what Get returns for a row.
func (r ledgerRow) record() ledgerRow {
	expires := r.expires
	if r.owner != "" {
		expires -= int64(time.Hour / time.Second)
	}
	return ledgerRow{state: r.state, fence: r.fence, attempts: r.attempts, lease: r.lease, expires: expires, result: r.result, payload: r.payload, seen: r.seen}
}

func decodeLedger(r row) ledgerRow {
	left := ledgerRow{
		state: ledger.State(str(r, "state")), owner: str(r, "claim"),
		fence: num(r, "fence"), attempts: num(r, "attempts"), lease: num(r, "lease"), expires: num(r, "expiresAt"),
		payload: string(bin(r, "fingerprint")), result: str(r, "result"), failure: str(r, "lastError"), seen: seenAt(r),
	}
	if left.owner == "" {
		left.state = ledger.Done
	}
	return left
}

// stamp is a time as it is stored.
// seenAt is when a row was first seen. An older system writes it without
// milliseconds.
func seenAt(r row) string {
	at, err := time.Parse(time.RFC3339, str(r, "seenAt"))
	if err != nil {
		return str(r, "seenAt")
	}
	return stamp(at)
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

func fingerprint(payload string) string {
	sum := sha256.Sum256([]byte(payload))
	return string(sum[:])
}
