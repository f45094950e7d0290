package api

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// ActionKind is what an action of a transaction does.
type ActionKind uint8

// The kinds of action.
const (
	ConditionCheck ActionKind = iota + 1
	Put
	Update
	Delete
)

// An Action is one write, or one check, of a transaction.
type Action struct {
	Kind  ActionKind
	Count int // how many kinds the request named; it must be 1
	Write
}

// TransactWriteItems writes up to 100 items together or not at all.
type TransactWriteItems struct {
	Actions             []Action
	Set                 bool
	Token               Opt[string]
	ReturnCapacity      Opt[string]
	ReturnItemSizeRange Opt[string]
}

func (t *TransactWriteItems) field(r *jsonx.Reader, member string) {
	switch member {
	case "TransactItems":
		t.Set = true
		t.Actions = list(r, MaxTransact, action)
	case "ClientRequestToken":
		t.Token = text(r)
	case "ReturnConsumedCapacity":
		t.ReturnCapacity = name(r)
	case "ReturnItemCollectionMetrics":
		t.ReturnItemSizeRange = name(r)
	default:
		r.Skip()
	}
}

// A Fingerprint identifies a payload.
type Fingerprint [sha256.Size]byte

// Fingerprint is the same for two equal transactions, in any order of the
// members of their JSON.
func (t *TransactWriteItems) Fingerprint() Fingerprint {
	var b []byte
	add := func(o Opt[string]) { b = strconv.AppendQuote(strconv.AppendBool(b, o.Set), o.Value) }
	for i := range t.Actions {
		a := &t.Actions[i]
		b = append(b, byte(a.Kind))
		for _, o := range []Opt[string]{a.TableName, a.Update, a.Condition, a.ReturnOnFailure} {
			add(o)
		}
		for _, name := range slices.Sorted(maps.Keys(a.Names.Value)) {
			add(Some(name))
			add(Some(a.Names.Value[name]))
		}
		for _, m := range []Item{a.Key, a.Item, a.Values} {
			b = m.AppendJSON(b)
		}
	}

	return sha256.Sum256(b)
}

func action(r *jsonx.Reader) Action {
	var a Action
	object(r, func(r *jsonx.Reader, member string) {
		kind := ActionKind(0)
		switch member {
		case "ConditionCheck":
			kind = ConditionCheck
		case "Put":
			kind = Put
		case "Update":
			kind = Update
		case "Delete":
			kind = Delete
		default:
			r.Skip()
			return
		}

		a.Kind, a.Count = kind, a.Count+1
		object(r, a.Write.field)
	})

	return a
}

const maxTokenLength = 36

func (t *TransactWriteItems) check(c *checker) {
	if n := len(t.Token.Value); t.Token.Set && (n < 1 || n > maxTokenLength) {
		bound := "greater than or equal to 1"
		if n > 1 {
			bound = fmt.Sprintf("less than or equal to %d", maxTokenLength)
		}
		c.fail(Invalid(envelope+"Value at 'ClientRequestToken' failed to satisfy constraint: Member must have length %s", bound))
	}

	c.returnConsumedCapacity(t.ReturnCapacity)
	c.returnItemCollectionMetrics(t.ReturnItemSizeRange)
	if c.transactItems(t.Set, "TransactWriteItem", len(t.Actions)); !c.ok() {
		return
	}

	for i := range t.Actions {
		t.Actions[i].check(c, fmt.Sprintf("transactItems.%d.member.", i+1))
	}
}

func (c *checker) transactItems(set bool, element string, n int) {
	if c.require("transactItems", set); set {
		c.count("transactItems", element, n, MaxTransact)
	}
}

func (a *Action) check(c *checker, at string) {
	if a.Count == 0 {
		c.list("Value '' at 'transactItems' failed to satisfy constraint: TransactWriteRequest should contain Delete or Put or Update or ConditionCheck")
		return
	}

	if a.Count != 1 {
		c.fail(Invalid("TransactItems can only contain one of Check, Put, Update or Delete"))
		return
	}

	kind, key, keyMember := "", a.Key, "key"
	switch a.Kind {
	case ConditionCheck:
		kind = "conditionCheck"
		c.require(at+kind+".conditionExpression", a.Condition.Set)
	case Put:
		kind, key, keyMember = "put", a.Item, "item"
	case Update:
		kind = "update"
		c.require(at+kind+".updateExpression", a.Update.Set)
	case Delete:
		kind = "delete"
	}

	c.tableName(at+kind+".tableName", a.TableName)
	c.require(at+kind+"."+keyMember, key.Set)
	c.returnValuesOnFailure(at+kind+".returnValuesOnConditionCheckFailure", a.ReturnOnFailure)
}

// TransactGetItems reads up to 100 items at one moment.
type TransactGetItems struct {
	Gets           []*Get // nil for an element without a Get
	Set            bool
	ReturnCapacity Opt[string]
}

func (t *TransactGetItems) field(r *jsonx.Reader, member string) {
	switch member {
	case "TransactItems":
		t.Set = true
		t.Gets = list(r, MaxTransact, func(r *jsonx.Reader) *Get {
			var g *Get
			object(r, func(r *jsonx.Reader, member string) {
				if member != "Get" {
					r.Skip()
					return
				}
				g = new(Get)
				object(r, g.field)
			})
			return g
		})
	case "ReturnConsumedCapacity":
		t.ReturnCapacity = name(r)
	default:
		r.Skip()
	}
}

func (t *TransactGetItems) check(c *checker) {
	c.returnConsumedCapacity(t.ReturnCapacity)
	if c.transactItems(t.Set, "TransactGetItem", len(t.Gets)); !c.ok() {
		return
	}
	for i, g := range t.Gets {
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if c.require(at, g != nil); g != nil {
			c.tableName(at+".tableName", g.TableName)
			c.require(at+".key", g.Key.Set)
		}
	}
}
