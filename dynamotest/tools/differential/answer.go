package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"reflect"
	"slices"
)

// An answer is what matters of a reply.
type answer struct {
	status  int
	kind    string // of the error
	message string
	body    object
	// accounts are the members of the reply that tell what the call took: units
	// and the sizes of item collections.
	accounts object
}

// separate moves the accounts out of the body.
func (a *answer) separate(req request) {
	a.accounts = object{}
	for _, name := range []string{"ConsumedCapacity", "ItemCollectionMetrics"} {
		if account, ok := a.body[name]; ok {
			a.accounts[name] = account
			delete(a.body, name)
		}
	}
	if asked := req.body["ReturnConsumedCapacity"]; asked == nil || asked == "NONE" {
		// Nobody asked for it, yet DynamoDB Local tells it of some calls.
		delete(a.accounts, "ConsumedCapacity")
	}
}

func (a answer) String() string {
	text, _ := json.Marshal(a.body)
	if a.status == http.StatusOK && len(a.accounts) > 0 {
		accounts, _ := json.Marshal(a.accounts)
		return short(string(text)) + " " + short(string(accounts))
	}
	if a.status == http.StatusOK {
		return short(string(text))
	}
	out := fmt.Sprintf("%d %s: %s", a.status, a.kind, a.message)
	if len(a.body) > 0 {
		out += " " + string(text)
	}
	return short(out)
}

func (a answer) equal(b answer) bool {
	return a.repliesAs(b) && reflect.DeepEqual(a.accounts, b.accounts)
}

// repliesAs reports whether all but the accounts is equal.
func (a answer) repliesAs(b answer) bool {
	return a.status == b.status && a.kind == b.kind && reflect.DeepEqual(a.body, b.body)
}

// normalize brings what has no order into one: sets always, lists of items
// where the request promises none. Numbers get one form: DynamoDB Local keeps
// leading zeros and exponents, which AWS does not.
func normalize(v any, unordered bool) {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			normalize(member, unordered)
			if text, ok := member.(string); ok && name == "N" {
				v[name] = number(text)
			}
			if list, ok := member.([]any); ok {
				normalizeList(name, list, unordered)
			}
		}
	case []any:
		for _, e := range v {
			normalize(e, unordered)
		}
	}
}

// normalizeList brings a list in the order of a set, if it is one.
func normalizeList(name string, list []any, unordered bool) {
	if name == "NS" {
		for i, e := range list {
			list[i] = number(e.(string))
		}
	}
	if name == "SS" || name == "NS" || name == "BS" || unordered && name != "L" {
		slices.SortFunc(list, byText)
	}
}

// number returns the same text for equal numbers.
func number(text string) string {
	if r, ok := new(big.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}

func byText(a, b any) int {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Compare(x, y)
}

// describe leaves out of a table's description what is each server's own, and
// the throughput that tables on demand have not.
func describe(v any) {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			throughput, _ := member.(object)
			switch {
			case slices.Contains(ownMembers, name), name == "ItemCount" && member == 0., name == "ProvisionedThroughput" && throughput["ReadCapacityUnits"] == 0.:
				delete(v, name)
			default:
				describe(member)
			}
			if list, ok := member.([]any); ok && name != "KeySchema" {
				slices.SortFunc(list, byText)
			}
		}
	case []any:
		for _, e := range v {
			describe(e)
		}
	}
}

var ownMembers = []string{
	"TableArn", "IndexArn", "TableId", "LatestStreamArn", "LatestStreamLabel",
	"CreationDateTime", "LastUpdateToPayPerRequestDateTime", "LastIncreaseDateTime", "LastDecreaseDateTime",
	"WarmThroughput", "OnDemandThroughput", "TableSizeBytes", "IndexSizeBytes", "NumberOfDecreasesToday", "TableStatus", "IndexStatus", "Backfilling",
}

// statements takes the texts of errors out of the replies to a batch of
// statements: there, too, only types are compared.
func statements(a *answer) {
	replies, _ := a.body["Responses"].([]any)
	for _, reply := range replies {
		if reply, ok := reply.(object); ok {
			if err, ok := reply["Error"].(object); ok {
				a.message += fmt.Sprint("; ", err["Message"])
				delete(err, "Message")
			}
		}
	}
}
