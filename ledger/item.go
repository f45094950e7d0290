package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// grace is the time from the logical expiry of a row of this package to the
// time in its TTL attribute. It is part of the format. DynamoDB deletes by its
// own clock, and no two clocks may differ by more than the grace. So when TTL
// deletes such a row, it has expired for every clock, and the deletion does not
// change what [Store.MarkSeen], [Store.Claim] and [Store.Get] answer.
const grace = time.Hour

// The attributes. They are the format.
const (
	attrKey         = "pk"
	attrSeenAt      = "seenAt"
	attrExpiresAt   = "expiresAt"
	attrSource      = "source"
	attrNotes       = "notes" // read only: an older system's
	attrState       = "state"
	attrClaim       = "claim"
	attrLease       = "lease"
	attrFence       = "fence"
	attrAttempts    = "attempts"
	attrFingerprint = "fingerprint"
	attrResult      = "result"
	attrLastError   = "lastError"
	attrErrorCode   = "errorCode"
	attrHolder      = "holder"
)

// attributes are what Config.Names can name.
var attributes = []string{
	attrKey, attrSeenAt, attrExpiresAt, attrSource, attrNotes, attrState, attrClaim, attrLease, attrFence,
	attrAttempts, attrFingerprint, attrResult, attrLastError, attrErrorCode, attrHolder,
}

// Bounds in bytes of UTF-8.
const (
	maxSource    = 64
	maxError     = 512
	maxErrorCode = 80
	maxHolder    = 64
)

// State is the state of a key.
type State string

const (
	// Claimed: a worker holds the key, or held it until its lease lapsed.
	Claimed State = "claimed"
	// Failed: the last worker gave up, or the key was reopened. The key may be
	// claimed again while attempts are left.
	Failed State = "failed"
	// Done: the key is completed. It has no result if MarkSeen or an older
	// system wrote the row, or if the key was erased.
	Done State = "done"
	// Refused: the key ended with a permanent error.
	Refused State = "refused"
)

// Record is a row of the ledger.
type Record struct {
	Key       string
	State     State
	SeenAt    time.Time // when the key was first seen
	ExpiresAt time.Time // when the key is forgotten; zero means never
	Lease     time.Time // when the lease ends; zero unless Claimed
	Fence     int64     // of the last claim; 0 if the row has no fence
	Attempts  int64     // claims since the key was first seen or reopened, less those that were given back

	Fingerprint []byte          // SHA-256 of the payload; nil if the row does not have it
	Result      json.RawMessage // nil unless Done with a result
	LastError   string          // why it last failed or was refused, at most 512 bytes; stays when it is claimed again

	// Nonce is the random text of the last call that marked, claimed, resumed, reopened
	// or erased the key; "" in an older system's row. A page for operators that gives a
	// record back to Reopen or Forget must carry Key, Nonce and Fence.
	Nonce string

	Source string // first part of the key, at most 64 bytes, for people

	// Holder is the [Request.Holder] of the last claim, also after it ended; "" after a
	// Resume or an Erase.
	Holder string
}

// row is a Record with the nonce of its writer, "" for an older system's row,
// and the code of a permanent error.
type row struct {
	Record
	claim     string
	errorCode string
}

// decode reads a row of this package or of an older system, whose rows have no
// claim and are done without a result.
func (s *Store) decode(it ddb.Item) (row, error) {
	r := row{claim: item.Text(it, attrClaim), errorCode: item.Text(it, attrErrorCode)}
	r.Key, r.Nonce = item.Text(it, attrKey), r.claim
	r.Source, r.Holder = item.Text(it, attrSource), item.Text(it, attrHolder)
	r.LastError = item.Text(it, attrLastError)

	var err error // the first
	r.SeenAt = read(item.ParseTime, it, attrSeenAt, &err)
	if item.Has(it, attrExpiresAt) {
		r.ExpiresAt = time.Unix(read(item.Int, it, attrExpiresAt, &err), 0).UTC()
	}

	if r.claim == "" {
		r.State = Done
		return r, err
	}

	if !r.ExpiresAt.IsZero() {
		r.ExpiresAt = r.ExpiresAt.Add(-grace)
	}

	r.State = State(item.Text(it, attrState))
	r.Fence, r.Attempts = read(item.Int, it, attrFence, &err), read(item.Int, it, attrAttempts, &err)
	if lease := read(item.Int, it, attrLease, &err); lease != 0 {
		r.Lease = time.UnixMilli(lease).UTC()
	}

	r.Fingerprint = read(item.Bytes, it, attrFingerprint, &err)
	if item.Has(it, attrResult) {
		r.Result = json.RawMessage(item.Text(it, attrResult))
	}

	switch r.State {
	case Claimed, Failed, Done, Refused:
	default:
		err = cmp.Or(err, fmt.Errorf("attribute %s is %q, which this version does not know", attrState, r.State))
	}

	return r, err
}

// read reads an attribute and keeps the first error, so that decode reads straight on.
func read[T any](by func(ddb.Item, string) (T, error), it ddb.Item, name string, first *error) T {
	value, err := by(it, name)
	*first = cmp.Or(*first, err)
	return value
}

// expiredRow is true of a row that has expired, deleted or not: any by :now,
// and one of this package by :graced, which is now and the grace. It is false
// if the row does not exist.
const expiredRow = "attribute_exists(#claim) AND #expiresAt <= :graced OR #expiresAt <= :now"

// expired is expiredRow for a row that was read.
func (r row) expired(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && r.ExpiresAt.Unix() <= now.Unix()
}

// expiresAt is the TTL attribute of a row that lives for the given time: whole
// seconds, rounded up, plus the grace.
func expiresAt(now time.Time, life time.Duration) int64 {
	return now.Add(life).Add(time.Second-1).Unix() + int64(grace/time.Second) // a life may be as long as a Duration can be
}

// truncate makes text valid UTF-8 of at most so many bytes, cut between runes.
func truncate(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
