package api

import "github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"

// A Write is the common part of operations that write one item, alone or as an
// action of a transaction.
type Write struct {
	TableName           Opt[string]
	Key                 Item // of Update, Delete and ConditionCheck
	Item                Item // of Put
	Update              Opt[string]
	Condition           Opt[string]
	ReturnValues        Opt[string]
	ReturnOnFailure     Opt[string]
	ReturnCapacity      Opt[string]
	ReturnItemSizeRange Opt[string]
	Expressions
}

func (w *Write) field(r *jsonx.Reader, member string) {
	switch member {
	case "TableName":
		w.TableName = name(r)
	case "Key":
		w.Key = item(r)
	case "Item":
		w.Item = item(r)
	case "UpdateExpression":
		w.Update = text(r)
	case "ConditionExpression":
		w.Condition = text(r)
	case "ReturnValues":
		w.ReturnValues = name(r)
	case "ReturnValuesOnConditionCheckFailure":
		w.ReturnOnFailure = name(r)
	case "ReturnConsumedCapacity":
		w.ReturnCapacity = name(r)
	case "ReturnItemCollectionMetrics":
		w.ReturnItemSizeRange = name(r)
	default:
		w.Expressions.field(r, member)
	}
}

// checkEnums checks the common members of operations on one item, except the
// table's name, which has a different place in the list of each.
func (w *Write) checkEnums(c *checker) {
	c.newer = true
	c.returnItemCollectionMetrics(w.ReturnItemSizeRange)
	c.enum("returnValues", w.ReturnValues, "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
	c.returnValuesOnFailure("returnValuesOnConditionCheckFailure", w.ReturnOnFailure)
	c.older(w.Older)
}

// checkOld checks the common members of Put and Delete, which cannot return new
// values.
func (w *Write) checkOld(c *checker, keyMember string, key Item) {
	c.returnConsumedCapacity(w.ReturnCapacity)
	w.checkEnums(c)
	c.tableName("tableName", w.TableName)
	c.require(keyMember, key.Set)
	if c.ok() && w.ReturnValues.Set && w.ReturnValues.Value != "ALL_OLD" && w.ReturnValues.Value != "NONE" {
		err := Invalid("ReturnValues can only be ALL_OLD or NONE")
		if !c.deep {
			err = ByRequest(err)
		}
		c.fail(err)
	}
}

// A conditional is a Write outside of a transaction. It may have legacy
// parameters.
type conditional struct{ Write }

func (w *conditional) field(r *jsonx.Reader, member string) {
	switch member {
	case "Expected", "ConditionalOperator":
		w.legacy(r, member)
	default:
		w.Write.field(r, member)
	}
}

// PutItem writes a whole item.
type PutItem struct{ conditional }

func (p *PutItem) check(c *checker) { p.checkOld(c, "item", p.Item) }

// UpdateItem changes an item or creates it.
type UpdateItem struct{ conditional }

func (u *UpdateItem) field(r *jsonx.Reader, member string) {
	if member == "AttributeUpdates" {
		u.legacy(r, member)
		return
	}
	u.conditional.field(r, member)
}

func (u *UpdateItem) check(c *checker) {
	c.returnConsumedCapacity(u.ReturnCapacity)
	c.tableName("tableName", u.TableName)
	u.checkEnums(c)
	c.require("key", u.Key.Set)
}

// DeleteItem deletes an item.
type DeleteItem struct{ conditional }

func (d *DeleteItem) check(c *checker) { d.checkOld(c, "key", d.Key) }

// A Get is the common part of GetItem and an action of TransactGetItems.
type Get struct {
	TableName      Opt[string]
	Key            Item
	Projection     Opt[string]
	ConsistentRead bool
	ReturnCapacity Opt[string]
	Expressions
}

func (g *Get) field(r *jsonx.Reader, member string) {
	switch member {
	case "TableName":
		g.TableName = name(r)
	case "Key":
		g.Key = item(r)
	case "ProjectionExpression":
		g.Projection = text(r)
	case "ConsistentRead":
		g.ConsistentRead = r.Bool()
	case "ReturnConsumedCapacity":
		g.ReturnCapacity = name(r)
	case "ExpressionAttributeValues":
		r.Skip() // a projection has no values, so this is not a member of the request
	default:
		g.Expressions.field(r, member)
	}
}

// GetItem reads an item.
type GetItem struct{ Get }

func (g *GetItem) field(r *jsonx.Reader, member string) {
	if member == "AttributesToGet" {
		g.legacy(r, member)
		return
	}
	g.Get.field(r, member)
}

func (g *GetItem) check(c *checker) {
	c.returnConsumedCapacity(g.ReturnCapacity)
	c.older(g.Older)
	c.tableName("tableName", g.TableName)
	c.require("key", g.Key.Set)
}
