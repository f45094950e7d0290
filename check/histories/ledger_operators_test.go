package histories_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// These are the calls of operators, and of a caller that takes over a claim.
type (
	reopens struct{ seen seen }
	erases  struct{}
	resumes struct{ from *grant }
	forgets struct{ seen seen }

	reopened struct{}
	emptied  struct{}
	changed  struct{}
	noRow    struct{}
	gone     struct{}
)

// seen is the part of a record that Reopen checks.
type seen struct {
	nonce string
	fence int64
}

func (r reopens) String() string { return fmt.Sprintf("Reopen(fence …%05d)", r.seen.fence%100_000) }
func (erases) String() string    { return "Erase" }
func (r resumes) String() string { return fmt.Sprintf("Resume(fence …%05d)", r.from.fence%100_000) }

func (f forgets) String() string { return fmt.Sprintf("Forget(fence …%05d)", f.seen.fence%100_000) }
func (gone) String() string      { return "gone" }
func (reopened) String() string  { return "reopened" }
func (emptied) String() string   { return "emptied" }
func (changed) String() string   { return "changed since" }
func (noRow) String() string     { return "not found" }

// reopen uses one of the last records that were read, and prefers one that can
// be reopened.
func (s *ledgerStory) reopen(c *caller) *call {
	of := slices.DeleteFunc(slices.Clone(s.seen), func(r ledger.Record) bool {
		return r.State == ledger.Done || r.State == ledger.Claimed
	})
	if len(of) == 0 || s.w.rnd.IntN(4) == 0 {
		of = s.seen
	}
	r := pick(s.w.rnd, of[max(0, len(of)-3):])
	return &call{caller: c, key: r.Key, in: reopens{seen{r.Nonce, r.Fence}}, do: func(ctx context.Context) any {
		switch err := s.stores[c.id].Reopen(ctx, r); {
		case err == nil:
			return reopened{}
		case errors.Is(err, ledger.ErrChanged):
			return changed{}
		case errors.Is(err, ledger.ErrNotFound):
			return noRow{}
		default:
			return refusal(err)
		}
	}}
}

// forget deletes the row of one of the last records that were read.
func (s *ledgerStory) forget(c *caller) *call {
	r := pick(s.w.rnd, s.seen[max(0, len(s.seen)-3):])
	return &call{caller: c, key: r.Key, in: forgets{seen{r.Nonce, r.Fence}}, do: func(ctx context.Context) any {
		switch err := s.stores[c.id].Forget(ctx, r); {
		case err == nil:
			return gone{}
		case errors.Is(err, ledger.ErrChanged):
			return changed{}
		default:
			return refusal(err)
		}
	}}
}

func (s *ledgerStory) erase(c *caller, key string) *call {
	return &call{caller: c, key: key, in: erases{}, do: func(ctx context.Context) any {
		switch err := s.stores[c.id].Erase(ctx, key); {
		case err == nil:
			return emptied{}
		case errors.Is(err, ledger.ErrNotFound):
			return noRow{}
		}
		return nil
	}}
}

// tokens returns the claims that can be handed over, the last four. They may
// have been handed over before, or be long past.
func (s *ledgerStory) tokens() (held []*grant) {
	for _, g := range s.grants {
		if g.ctx == nil && !g.settled {
			held = append(held, g)
		}
	}
	return held[max(0, len(held)-4):]
}

// resume takes a claim over. Its holder leaves the claim alone from now on, or
// tries in vain.
func (s *ledgerStory) resume(c *caller) *call {
	from := pick(s.w.rnd, s.tokens())
	from.leaving = true
	token := from.claim.Token()
	return &call{caller: c, key: from.claim.Key, in: resumes{from}, do: func(ctx context.Context) any {
		claim, err := s.stores[c.id].Resume(ctx, token)
		if err != nil {
			return refusal(err)
		}
		_, out := s.grant(c, claim)
		return out
	}}
}

func (in reopens) stands(r ledgerRow) bool {
	return r.owner == in.seen.nonce && r.fence == in.seen.fence
}

// writes reports whether the key has all its attempts again, and the write
// replaced what was seen.
func (in reopens) writes(stood, left ledgerRow, now time.Time) bool {
	over := in.stands(stood) && !stood.expired(now) && (stood.state == ledger.Failed || stood.state == ledger.Refused)
	return over && left.state == ledger.Failed && left.attempts == 0 && left.failure == "" && left.lease == 0 &&
		left.fence == stood.fence && left.owner != stood.owner && left.payload == stood.payload && left.result == stood.result
}

// told is the answer of a row that Reopen does not change.
func (in reopens) told(stood ledgerRow, m *move, now time.Time) any {
	switch {
	case m.earlier != nil && str(m.earlier, "claim") == stood.owner:
		return reopened{}
	case stood.expired(now):
		return noRow{}
	case !in.stands(stood):
		return changed{}
	case stood.state == ledger.Done:
		return done{stood.result}
	case stood.state == ledger.Claimed:
		return busy{max(0, time.UnixMilli(stood.lease).Add(ledgerSkew).Sub(now))}
	}
	return nil
}

// writes reports whether the key has another holder, or no holder because the
// caller's context has ended.
func (in resumes) writes(stood, left ledgerRow, now time.Time) bool {
	if left.state == ledger.Failed { // given up
		return stood.state == ledger.Claimed && stood.owner == left.owner && left.attempts == stood.attempts
	}
	return stood.heldBy(in.from) && left.state == ledger.Claimed && left.owner != stood.owner &&
		left.fence > stood.top && left.attempts == stood.attempts && left.payload == stood.payload &&
		left.lease == now.Add(ledgerLease).UnixMilli()
}

// told is the answer of a row that Resume does not change.
func (in resumes) told(stood ledgerRow, m *move) any {
	switch mine := stood.owner == in.from.nonce && stood.fence == in.from.fence; {
	case m.earlier != nil && str(m.earlier, "claim") == stood.owner && stood.state == ledger.Claimed:
		return granted{stood.fence, stood.attempts, stood.lease, stood.seen}
	case !mine || stood.state == ledger.Failed:
		return lost{}
	case stood.state == ledger.Done:
		return done{stood.result}
	case stood.state == ledger.Refused:
		return permanent{stood.failure}
	}
	return nil
}

// apply returns the key after a Forget: it has no row, but the next claim must
// have a higher fence than all before.
func (in forgets) apply(stood ledgerRow, m *move) (any, bool) {
	seen := stood.owner == in.seen.nonce && stood.fence == in.seen.fence
	free := func(now time.Time) bool {
		lapsed := now.Add(-ledgerSkew).UnixMilli()
		return stood.fence <= lapsed && (stood.state != ledger.Claimed || stood.lease <= lapsed)
	}
	if m.row != nil {
		if stood.state == "" { // it was deleted before
			return stood, m.out == nil || m.out == gone{}
		}
		heard := m.out == nil || m.out == gone{}
		return ledgerRow{top: stood.top, forgotten: m.at.UnixMilli()}, len(m.row) == 0 && heard && seen && slices.ContainsFunc(m.clocks, free)
	}
	return stood, slices.ContainsFunc(m.clocks, func(now time.Time) bool {
		switch out := m.out.(type) {
		case gone:
			return stood.state == ""
		case changed:
			return stood.state != "" && !seen
		case busy:
			until := stood.fence
			if stood.state == ledger.Claimed {
				until = max(until, stood.lease)
			}
			return seen && !free(now) && out.wait == max(0, time.UnixMilli(until).Add(ledgerSkew).Sub(now))
		}
		return false
	})
}

// writes reports whether the row says only that the key is done, with the same
// expiry.
func (erases) writes(stood, left ledgerRow) bool {
	if stood.owner == "" { // an older system's
		return stood.state != "" && left.record() == stood.record()
	}
	return left.state == ledger.Done && left.expires == stood.expires && left.fence == stood.fence && left.seen == stood.seen &&
		left.attempts == stood.attempts &&
		left.payload+left.result+left.failure == "" && left.lease == 0
}
