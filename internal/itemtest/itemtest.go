// Package itemtest is a model of two items of a table: requests to DynamoDB, each
// with what it does to the items and what it replies, if it is alone. It has nothing
// of the server that its users test.
package itemtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// An Item has a number n and a text s, each of which may be missing ("").
type Item struct {
	There bool
	N, S  string
}

// A State is the two items, and the transaction that the one token stands for. States
// are comparable.
type State struct {
	Items [2]Item
	Spent string
}

// A Request is an operation and its body. Do returns the state after it, and the
// reply as [Canonical] writes it.
type Request struct {
	Op, Body string
	Do       func(State) (State, string)
	Reads    bool // and changes nothing
}

// A condition, and an update, with what its text means. An update touches some
// attributes, and is invalid if it returns false.
type (
	condition struct {
		text  string
		holds func(Item) bool
	}
	update struct {
		text, touches string
		do            func(Item) (Item, bool)
	}
)

// An action is a write of one item, by itself or in a transaction.
type action struct {
	kind      string // Put, Update, Delete or ConditionCheck
	at        int    // which item
	put       Item
	update    update
	when      condition
	shows     string // ReturnValues
	onFailure string // ReturnValuesOnConditionCheckFailure
}

// on returns the item after the action, and the code of the reason why it fails.
func (a action) on(it Item) (Item, string) {
	if a.when.text != "" && !a.when.holds(it) {
		return it, "ConditionalCheckFailed"
	}

	switch a.kind {
	case "Put":
		return a.put, ""
	case "Delete":
		return Item{}, ""
	case "Update":
		if after, ok := a.update.do(it); ok {
			return after, ""
		}
		return it, "ValidationError"
	}
	return it, ""
}

// told returns the member Item of the reply to an action whose condition failed, or ""
// if the action did not ask for it.
func (a action) told(it Item, failed string) string {
	if failed != "ConditionalCheckFailed" || a.onFailure != allOld {
		return ""
	}
	return shown("Item", it.json(a.at, whole))
}

// alone is the action as a request.
func (a action) alone(slow string) Request {
	return Request{Op: a.kind + "Item", Body: a.json(slow), Do: func(s State) (State, string) {
		before := s.Items[a.at]
		after, failed := a.on(before)
		if failed != "" {
			code := strings.Replace(failed, "ValidationError", "Validation", 1) + "Exception"
			return s, reply(text("__type", code), a.told(before, failed))
		}
		s.Items[a.at] = after
		return s, reply(shown("Attributes", map[string]string{
			"": "{}", "ALL_OLD": before.json(a.at, whole), "ALL_NEW": after.json(a.at, whole),
			"UPDATED_OLD": before.json(a.at, a.update.touches), "UPDATED_NEW": after.json(a.at, a.update.touches),
		}[a.shows]))
	}}
}

// together is a transaction that writes, with the token or without.
func together(slow, token string, actions ...action) Request {
	var all []string
	for _, a := range actions {
		all = append(all, object(`"`+a.kind+`":`+a.json(slow)))
	}

	body := object(`"TransactItems":[`+strings.Join(all, ",")+`]`, text("ClientRequestToken", token))
	return Request{Op: "TransactWriteItems", Body: body, Do: func(s State) (State, string) {
		switch {
		case token != "" && s.Spent == body:
			return s, reply()
		case token != "" && s.Spent != "":
			return s, reply(text("__type", "IdempotentParameterMismatchException"))
		}

		next, reasons, cancelled := s, []string{}, ""
		for _, a := range actions {
			after, failed := a.on(s.Items[a.at])
			if cancelled == "ValidationError" {
				failed = "" // what follows an invalid action is not judged
			}
			if failed != "" {
				cancelled = failed
			} else {
				next.Items[a.at], failed = after, "None"
			}
			reasons = append(reasons, object(text("Code", failed), a.told(s.Items[a.at], failed)))
		}

		if cancelled != "" {
			return s, reply(text("__type", "TransactionCanceledException"), `"CancellationReasons":[`+strings.Join(reasons, ",")+`]`)
		}

		if token != "" {
			next.Spent = body
		}
		return next, reply()
	}}
}

// reads is a request that changes nothing.
func reads(op, body string, says func(State) string) Request {
	return Request{Op: op, Body: object(body), Reads: true, Do: func(s State) (State, string) { return s, reply(says(s)) }}
}

func reply(members ...string) string { return Canonical([]byte(object(members...))) }

// Send sends a request and returns the reply.
func Send(ctx context.Context, to http.RoundTripper, op, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://dynamotest.invalid/", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	got, err := to.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(got.Body)
}

// Canonical returns a reply with its members in order and without texts for people.
func Canonical(reply []byte) string {
	var value any
	if json.Unmarshal(reply, &value) != nil {
		return string(reply)
	}
	plain(value)
	out, _ := json.Marshal(value) // it has just been read
	return string(out)
}

func plain(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "message")
		delete(v, "Message")
		if kind, ok := v["__type"].(string); ok {
			v["__type"] = kind[strings.LastIndexByte(kind, '#')+1:]
		}
		for name := range v {
			plain(v[name])
		}
	case []any:
		for i := range v {
			plain(v[i])
		}
	}
}
