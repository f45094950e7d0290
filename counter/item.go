package counter

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The attributes of a row besides its key. Each recorded event has one of its
// own, named entryPrefix and the event's text.
const (
	attrCount     = "count"
	attrUpdatedAt = "updatedAt"
	attrTTL       = "ttl"
	attrRecorded  = "recorded"
	entryPrefix   = "e_"
)

// nonceSize is the length of a nonce in bytes; in the row it is nonceText
// characters of unpadded base64url.
const (
	nonceSize = 8
	nonceText = 11
)

// entry is what a row keeps of an event: "<weight>~<nonce>", and after a
// refund the tombstone "-<weight>~<nonce>". The nonce is that of the call that
// wrote it, so that the call knows its own work again.
type entry struct {
	weight   int64
	refunded bool
	nonce    string
}

// String writes the form in the row.
func (e entry) String() string {
	if e.refunded {
		return "-" + e.held() + e.nonce
	}
	return e.held() + e.nonce
}

// held is what the entry begins with until it is refunded, whoever wrote it.
func (e entry) held() string { return strconv.FormatInt(e.weight, 10) + "~" }

// parseEntry reads what String wrote, and nothing else.
func parseEntry(text string) (entry, error) {
	var e entry
	text, e.refunded = strings.CutPrefix(text, "-")
	digits, nonce, _ := strings.Cut(text, "~")
	weight, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || weight < 1 || weight > mostWeight || strconv.FormatInt(weight, 10) != digits {
		return entry{}, fmt.Errorf("an event's entry has no weight")
	}
	if raw, err := base64.RawURLEncoding.DecodeString(nonce); err != nil || len(raw) != nonceSize || len(nonce) != nonceText {
		return entry{}, fmt.Errorf("an event's entry has no nonce")
	}
	e.weight, e.nonce = weight, nonce
	return e, nil
}

// newNonce draws what tells one call from every other.
func newNonce(random io.Reader) (string, error) {
	var b [nonceSize]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("no randomness for a nonce: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// entryName is the attribute of the event.
func entryName(ev event.Event) string { return entryPrefix + ev.String() }

// entryOf returns what the row keeps of the event; false when it is not
// recorded.
func entryOf(row ddb.Item, ev event.Event) (entry, bool, error) {
	value, ok := row[entryName(ev)]
	if !ok {
		return entry{}, false, nil
	}
	text, ok := value.(*types.AttributeValueMemberS)
	if !ok {
		return entry{}, false, fmt.Errorf("an event's entry is not text")
	}
	e, err := parseEntry(text.Value)
	return e, err == nil, err
}

// counts are the row's own figures. A row of an older system has no recorded.
type counts struct {
	used     int64
	recorded int64
}

func readCounts(row ddb.Item) (counts, error) {
	used, err := item.Int(row, attrCount)
	if err != nil {
		return counts{}, err
	}
	recorded, err := item.Int(row, attrRecorded)
	return counts{used: used, recorded: recorded}, err
}
