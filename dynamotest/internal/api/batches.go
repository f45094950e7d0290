package api

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// The most entries of one request.
const (
	MaxBatchGet   = 100
	MaxBatchWrite = 25
	MaxTransact   = 100
)

// BatchGetItem reads items of any tables.
type BatchGetItem struct {
	Tables         []KeysOfTable // in the order of the request
	Set            bool
	ReturnCapacity Opt[string]
}

// KeysOfTable are the keys that a batch reads from one table.
type KeysOfTable struct {
	Table          string
	Keys           []Item
	KeysSet        bool
	Projection     Opt[string]
	ConsistentRead Opt[bool]
	Expressions
}

func (b *BatchGetItem) field(r *jsonx.Reader, member string) {
	switch member {
	case "RequestItems":
		b.Set = true
		mapped(r, func(r *jsonx.Reader, table string, null bool) {
			entry := KeysOfTable{Table: table}
			if !null {
				object(r, entry.field)
			}
			if len(b.Tables) <= MaxBatchGet { // as in list
				b.Tables = append(b.Tables, entry)
			}
		})
	case "ReturnConsumedCapacity":
		b.ReturnCapacity = name(r)
	default:
		r.Skip()
	}
}

func (k *KeysOfTable) field(r *jsonx.Reader, member string) {
	switch member {
	case "Keys":
		k.Keys, k.KeysSet = list(r, MaxBatchGet, item), true
	case "ProjectionExpression":
		k.Projection = text(r)
	case "ConsistentRead":
		k.ConsistentRead = boolean(r)
	case "ExpressionAttributeValues":
		r.Skip() // as in Get
	case "AttributesToGet":
		k.legacy(r, member)
	default:
		k.Expressions.field(r, member)
	}
}

func (b *BatchGetItem) check(c *checker) {
	if len(b.Tables) == 0 {
		c.fail(Invalid("The requestItems parameter is required for BatchGetItem"))
		return
	}
	c.returnConsumedCapacity(b.ReturnCapacity)
	total := 0
	for _, t := range b.Tables {
		c.tableName("tableName", Some(t.Table))
		c.require("requestItems."+t.Table+".member.keys", t.KeysSet)
		at := "'RequestItems." + t.Table + ".member.Keys'"
		switch {
		case t.KeysSet && len(t.Keys) == 0:
			c.list("Value at %s failed to satisfy constraint: Member must have length greater than or equal to 1", at)
		case len(t.Keys) > MaxBatchGet:
			c.list("Value at %s failed to satisfy constraint: Member must have length less than or equal to %d", at, MaxBatchGet)
		}
		c.attributesToGet("requestItems."+t.Table+".member.attributesToGet", t.Legacy)
		total += len(t.Keys)
	}
	if total > MaxBatchGet && c.err() == nil {
		c.fail(Invalid("Too many items requested for the BatchGetItem call"))
	}
}

// BatchWriteItem puts and deletes items of any tables, each for itself.
type BatchWriteItem struct {
	Tables              []WritesOfTable // in the order of the request
	ReturnCapacity      Opt[string]
	ReturnItemSizeRange Opt[string]
}

// WritesOfTable are the writes of a batch to one table.
type WritesOfTable struct {
	Table  string
	Writes []BatchWrite
}

// A BatchWrite puts an item or deletes one.
type BatchWrite struct {
	Put, Delete *Write
}

func (b *BatchWriteItem) field(r *jsonx.Reader, member string) {
	switch member {
	case "RequestItems":
		mapped(r, func(r *jsonx.Reader, table string, null bool) {
			entry := WritesOfTable{Table: table}
			if !null {
				entry.Writes = list(r, MaxBatchWrite, batchWrite)
			}
			if len(b.Tables) <= MaxBatchWrite { // as in list
				b.Tables = append(b.Tables, entry)
			}
		})
	case "ReturnConsumedCapacity":
		b.ReturnCapacity = name(r)
	case "ReturnItemCollectionMetrics":
		b.ReturnItemSizeRange = name(r)
	default:
		r.Skip()
	}
}

func batchWrite(r *jsonx.Reader) BatchWrite {
	var w BatchWrite
	object(r, func(r *jsonx.Reader, member string) {
		into := &w.Put
		switch member {
		case "PutRequest":
		case "DeleteRequest":
			into = &w.Delete
		default:
			r.Skip()
			return
		}
		*into = new(Write)
		object(r, (*into).field)
	})
	return w
}

func (b *BatchWriteItem) check(c *checker) {
	if len(b.Tables) == 0 {
		c.fail(Invalid("The requestItems parameter is required for BatchWriteItem"))
		return
	}
	c.returnConsumedCapacity(b.ReturnCapacity)
	c.returnItemCollectionMetrics(b.ReturnItemSizeRange)
	total := 0
	for _, t := range b.Tables {
		c.tableName("tableName", Some(t.Table))
		if n := len(t.Writes); n == 0 || n > MaxBatchWrite {
			c.list("Value '{%s=%s}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "+
				"[Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", t.Table, sketch("WriteRequest", n), MaxBatchWrite)
		}
		total += len(t.Writes)
	}
	if c.err() != nil {
		return
	}
	if total > MaxBatchWrite {
		c.fail(Invalid("Too many items requested for the BatchWriteItem call"))
	}
	for _, t := range b.Tables {
		for _, w := range t.Writes {
			w.check(c)
		}
	}
}

func (w *BatchWrite) check(c *checker) {
	switch {
	case w.Put != nil && w.Delete != nil:
		c.fail(Invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"))
	case w.Put != nil && !w.Put.Item.Set:
		c.require("requestItems.member.putRequest.item", false)
	case w.Delete != nil && !w.Delete.Key.Set:
		c.require("requestItems.member.deleteRequest.key", false)
	case w.Put == nil && w.Delete == nil:
		c.fail(Invalid("Supplied WriteRequest is empty, must contain exactly one of PutRequest or DeleteRequest"))
	}
}

// sketch stands for the Java object dump that DynamoDB puts into the message
// about a list of the wrong length, whose form has changed over the years.
func sketch(element string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+"(), ", n), ", ") + "]"
}

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
	Count int // how many kinds the request named; one is right
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

// A Fingerprint tells one payload from another.
type Fingerprint [sha256.Size]byte

// Fingerprint is the same for two transactions that ask for the same, in
// whatever order their JSON has its members.
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
	if t.Token.Set {
		c.length("clientRequestToken", t.Token.Value, len(t.Token.Value), 1, maxTokenLength)
	}
	c.returnConsumedCapacity(t.ReturnCapacity)
	c.returnItemCollectionMetrics(t.ReturnItemSizeRange)
	if c.transactItems(t.Set, "TransactWriteItem", len(t.Actions)); c.err() != nil {
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
	Gets           []*Get // nil where an element had no Get
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
	if c.transactItems(t.Set, "TransactGetItem", len(t.Gets)); c.err() != nil {
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
