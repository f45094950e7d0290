package main

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
)

// A knownDifference is a difference that has a reason.
type knownDifference struct {
	name     string
	reason   string // and who is right
	rare     bool   // 100,000 requests may not show it
	either   bool   // it may occur with the servers exchanged
	explains func(d difference) bool
}

// known are the differences that have a reason.
var known = slices.Concat(knownReplies, knownCollections, knownUnits)

// explain returns the known differences in a difference, and reports whether
// they explain all of it. The accounts of what a call cost are compared, and
// explained, only if the rest of the replies is the same.
func explain(d difference) (names []string, all bool) {
	if d.ours.equal(d.theirs) {
		return nil, true
	}
	if d.ours.status >= http.StatusInternalServerError {
		return nil, false
	}

	// The types of decoded JSON, which the replies have too.
	text, _ := json.Marshal(d.request.body)
	_ = json.Unmarshal(text, &d.asked)

	same := d.ours.repliesAs(d.theirs)
	differs := func(account string) bool {
		return same && !reflect.DeepEqual(d.ours.accounts[account], d.theirs.accounts[account])
	}

	for _, part := range []struct {
		differs bool
		known   []knownDifference
	}{{!same, knownReplies}, {differs("ItemCollectionMetrics"), knownCollections}, {differs("ConsumedCapacity"), knownUnits}} {
		if !part.differs {
			continue
		}

		i := slices.IndexFunc(part.known, func(k knownDifference) bool { return k.explains(d) })
		if i < 0 {
			return nil, false
		}
		names = append(names, part.known[i].name)
	}

	return names, true
}

// Types of errors.
const (
	cancelled       = "TransactionCanceledException"
	validation      = "ValidationException"
	malformed       = "SerializationException"
	notFound        = "ResourceNotFoundException"
	conditionFailed = "ConditionalCheckFailedException"
	neverReady      = "IndexNeverReady" // not an answer of a server: made here
)
