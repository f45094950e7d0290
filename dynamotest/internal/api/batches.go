package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
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

	sent []byte // RequestItems as sent
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
		start := r.Pos()
		mapped(r, func(r *jsonx.Reader, table string, null bool) {
			entry := KeysOfTable{Table: table}
			if !null {
				object(r, entry.field)
			}
			if len(b.Tables) <= MaxBatchGet { // as in list
				b.Tables = append(b.Tables, entry)
			}
		})
		b.sent = r.From(start)
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

// check adds the violations in the order in which DynamoDB lists them.
func (b *BatchGetItem) check(c *checker) {
	if b.Set && len(b.Tables) == 0 {
		c.list("Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}

	if slices.ContainsFunc(b.Tables, func(t KeysOfTable) bool { return !isTableName(t.Table) }) {
		c.mapKeys(b.shown())
	}

	total := 0
	for _, t := range b.Tables {
		c.require("requestItems."+t.Table+".member.keys", t.KeysSet)
		at := "'RequestItems." + t.Table + ".member.Keys'"
		switch {
		case t.KeysSet && len(t.Keys) == 0:
			c.list("Value at %s failed to satisfy constraint: Member must have length greater than or equal to 1", at)
		case len(t.Keys) > MaxBatchGet:
			c.list("Value at %s failed to satisfy constraint: Member must have length less than or equal to %d", at, MaxBatchGet)
		}

		if o := t.Older; o != nil {
			c.attributesToGet("requestItems."+t.Table+".member.attributesToGet", o)
			c.translate(o)
		}

		total += len(t.Keys)
	}

	c.returnConsumedCapacity(b.ReturnCapacity)
	c.require("requestItems", b.Set)
	if total > MaxBatchGet && c.ok() {
		c.fail(Invalid("Too many items requested for the BatchGetItem call"))
	}
}

// shown returns RequestItems as messages show it.
func (b *BatchGetItem) shown() string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, b.sent) // it was read before, so it is valid JSON
	return compact.String()
}

// BatchWriteItem puts and deletes items of any tables, each independently of
// the others.
type BatchWriteItem struct {
	Tables              []WritesOfTable // in the order of the request
	Set                 bool
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
		b.Set = true
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

		write := new(Write)
		object(r, write.field)
		write.Item.Err, write.Key.Err = attr.AsOlder(write.Item.Err), attr.AsOlder(write.Key.Err)
		*into = write
	})

	return w
}

func (b *BatchWriteItem) check(c *checker) {
	c.returnConsumedCapacity(b.ReturnCapacity)
	c.returnItemCollectionMetrics(b.ReturnItemSizeRange)
	if c.require("requestItems", b.Set); !c.ok() {
		return // the errors of enums come before those of the tables
	}

	if len(b.Tables) == 0 {
		c.fail(Invalid("The requestItems parameter is required for BatchWriteItem"))
		return
	}

	if slices.ContainsFunc(b.Tables, func(t WritesOfTable) bool { return !isTableName(t.Table) }) {
		c.mapKeys(b.shown())
	}

	total := 0
	for _, t := range b.Tables {
		if n := len(t.Writes); n == 0 || n > MaxBatchWrite {
			c.list("Value '{%s=%s}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "+
				"[Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", t.Table, sketch("WriteRequest", n), MaxBatchWrite)
		}
		total += len(t.Writes)
	}

	if !c.ok() {
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

// shown returns RequestItems as messages show it: like maps, lists and objects of
// Java.
func (b *BatchWriteItem) shown() string {
	var s strings.Builder
	for i, t := range b.Tables {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(t.Table + "=[")
		for j, w := range t.Writes {
			if j > 0 {
				s.WriteString(", ")
			}
			s.WriteString(w.shown())
		}
		s.WriteString("]")
	}

	return "{" + s.String() + "}"
}

func (w *BatchWrite) shown() string {
	switch {
	case w.Put != nil:
		return "WriteRequest(putRequest=PutRequest(item=" + shownItem(w.Put.Item) + "))"
	case w.Delete != nil:
		return "WriteRequest(deleteRequest=DeleteRequest(key=" + shownItem(w.Delete.Key) + "))"
	}
	return "WriteRequest()"
}

func shownItem(item Item) string {
	fields := make([]string, len(item.Map))
	for i, f := range item.Map {
		fields[i] = f.Name + "=AttributeValue(" + string(f.Value.AppendJSON(nil)) + ")"
	}
	return "{" + strings.Join(fields, ", ") + "}"
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

// sketch replaces the dump of Java objects that DynamoDB puts into the message
// about a list of the wrong length. The form of the dump has changed over the
// years.
func sketch(element string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+"(), ", n), ", ") + "]"
}
