package ledger

import (
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

var (
	escaper   = strings.NewReplacer("%", "%25", ":", "%3A")
	unescaper = strings.NewReplacer("%25", "%", "%3A", ":") // one pass: %253A is %3A
)

// Key joins parts, the most general one first, into a ledger key:
//
//	ledger.Key("CHARGE", "ch_719285063") // CHARGE:ch_719285063
//
// Use only parts that the sender repeats on a redelivery: an id, never an attempt
// number. '%' and ':' are escaped, so different parts never give the same key. Key
// returns an [*event.InputError] for no parts, an empty part, invalid UTF-8, and a key
// over 2048 bytes.
func Key(parts ...string) (string, error) {
	if len(parts) == 0 {
		return "", event.BadInput(pkg, "parts", "must have at least one part, which names the event")
	}

	escaped := make([]string, len(parts))
	for i, part := range parts {
		if part == "" {
			return "", event.BadInput(pkg, fmt.Sprintf("parts[%d]", i), "must not be empty: Key would be the same for all events in which it is empty")
		}
		if err := check.Text(pkg, fmt.Sprintf("parts[%d]", i), part); err != nil {
			return "", err
		}
		escaped[i] = escaper.Replace(part)
	}

	key := strings.Join(escaped, ":")
	if err := check.PartitionKey(pkg, "parts", key); err != nil {
		return "", err
	}

	return key, nil
}

// sourceOf returns the first part of a key, bounded: the `source` attribute,
// which is for people and decides nothing.
func sourceOf(key string) string {
	first, _, _ := strings.Cut(key, ":")
	return truncate(unescaper.Replace(first), maxSource)
}
