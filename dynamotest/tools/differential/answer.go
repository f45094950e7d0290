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

// An answer is the part of a reply that is compared.
type answer struct {
	status  int
	kind    string // of the error
	message string
	body    object
	// accounts are the members of the reply about the price of the call: units
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
		// The request did not ask for it, but DynamoDB Local returns it for
		// some calls.
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

// repliesAs reports whether everything except the accounts is equal.
func (a answer) repliesAs(b answer) bool {
	return a.status == b.status && a.kind == b.kind && reflect.DeepEqual(a.body, b.body)
}

// normalize sorts values without an order: sets always, lists of items if the
// request is unordered. Equal numbers get one form, because DynamoDB Local
// keeps leading zeros and exponents, and AWS does not.
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

// normalizeList sorts a list if it is a set.
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

// describe removes from a table's description the members that are each
// server's own, and the throughput of tables on demand.
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

// statements removes the texts of errors from the replies to a batch of
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
