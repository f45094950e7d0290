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

// The attributes of a row. Each recorded event has an attribute of its own, named
// by entryPrefix and the event's text.
const (
	attrScope     = "chatId"
	attrDate      = "date"
	attrCount     = "count"
	attrTTL       = "ttl"
	attrUpdatedAt = "updatedAt"
	attrRecorded  = "recorded"
	entryPrefix   = "e_"
)

// attributes are what Config.Names can name.
var attributes = []string{attrScope, attrDate, attrCount, attrTTL, attrUpdatedAt, attrRecorded}

// nonceSize is the length of a nonce in bytes; in the row it is nonceText
// characters of unpadded base64url.
const (
	nonceSize = 8
	nonceText = 11
)

// state is the state of an event, and the beginning of its entry.
type state string

const (
	held     state = ""  // by Take or Add
	settled  state = "=" // by Adjust, for good
	refunded state = "-" // a tombstone
)

// entry is what a row keeps of an event: its state, then "<weight>~<nonce>". The
// nonce is that of the call that wrote it, so that the call recognizes its own
// write.
type entry struct {
	state  state
	weight int64
	nonce  string
}

// String writes the form in the row.
func (e entry) String() string {
	return string(e.state) + strconv.FormatInt(e.weight, 10) + "~" + e.nonce
}

// entryStart is an entry up to its nonce: the beginning of every call's entry with this
// state and weight.
func entryStart(st state, weight int64) string {
	return string(st) + strconv.FormatInt(weight, 10) + "~"
}

// parseEntry reads what String wrote, and refuses any other form.
func parseEntry(text string) (entry, error) {
	var e entry
	for _, st := range []state{settled, refunded} {
		if rest, ok := strings.CutPrefix(text, string(st)); ok {
			text, e.state = rest, st
			break
		}
	}

	digits, nonce, _ := strings.Cut(text, "~")
	weight, err := strconv.ParseInt(digits, 10, 64)
	// ParseInt also takes a sign and leading zeros, which String does not write.
	if err != nil || weight < 1 || weight > mostWeight || strconv.FormatInt(weight, 10) != digits {
		return entry{}, fmt.Errorf("an event's entry has no weight")
	}

	// The decoder skips line breaks: only the text's own length shows them.
	if raw, err := base64.RawURLEncoding.DecodeString(nonce); err != nil || len(raw) != nonceSize || len(nonce) != nonceText {
		return entry{}, fmt.Errorf("an event's entry has no nonce")
	}

	e.weight, e.nonce = weight, nonce
	return e, nil
}

// newNonce draws the nonce of a call.
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

func (s *Store) readCounts(row ddb.Item) (counts, error) {
	used, err := item.Int(row, attrCount)
	if err != nil {
		return counts{}, err
	}
	recorded, err := item.Int(row, attrRecorded)
	return counts{used: used, recorded: recorded}, err
}
