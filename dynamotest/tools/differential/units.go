package main

import (
	"maps"
	"reflect"
	"slices"
)

// The sizes of item collections.
var knownCollections = []knownDifference{
	{
		name:   "the sizes of item collections",
		reason: "AWS returns them for writes to a table with a local index; DynamoDB Local never does",
		explains: func(d difference) bool {
			return d.asks("ReturnItemCollectionMetrics") && d.theirs.accounts["ItemCollectionMetrics"] == nil
		},
	},
}

// Units that are consumed.
var knownUnits = []knownDifference{
	{
		name:   "units of a read that finds nothing",
		reason: "AWS charges the minimum, half a unit or one, in a batch for each item; DynamoDB Local charges nothing",
		explains: func(d difference) bool {
			ours, theirs := d.ours.units(), d.theirs.units()
			if d.op("BatchGetItem") {
				return reflect.DeepEqual(ours, d.withMissing(theirs))
			}
			table, _ := d.asked["TableName"].(string)
			return d.op("Query", "Scan") && d.ours.body["ScannedCount"] == 0. && theirs[table] == 0 && ours[table] == least(d.asked)
		},
	},
	{
		name:   "units of a read of an index that lacks attributes",
		either: true,
		rare:   true,
		reason: "AWS charges for the entries of the index and, if a local one is asked for attributes that it lacks, for the items of the table; DynamoDB " +
			"Local charges a Query that projects anything for these items, too, and a Scan for whole items, once",
		explains: func(d difference) bool {
			_, x := indexNamed(d.asked["IndexName"])
			lacks := x.projection == "KEYS_ONLY" || x.projection == "INCLUDE"
			query := d.op("Query") && x.local && (d.asks("ProjectionExpression") || d.asks("AttributesToGet"))
			return lacks && (query || d.op("Scan")) && d.ours.body["ScannedCount"] != 0.
		},
	},
	{
		name:   "units of statements",
		reason: "AWS returns them for every statement, as its reference says; DynamoDB Local never does",
		explains: func(d difference) bool {
			return d.isStatement() && d.theirs.accounts["ConsumedCapacity"] == nil
		},
	},
	{
		name:   "units by direction, of the tables of a transaction",
		reason: "AWS repeats ReadCapacityUnits and WriteCapacityUnits beside the units of tables and indexes; DynamoDB Local gives them only for the total",
		explains: func(d difference) bool {
			return d.op("TransactGetItems", "TransactWriteItems") && len(d.ours.String()) > len(d.theirs.String()) && reflect.DeepEqual(undirected(d.ours.accounts), undirected(d.theirs.accounts))
		},
	},
	{
		name:   "units of writes in a transaction",
		either: true,
		reason: "AWS charges a write in a transaction twice, its index writes once; DynamoDB Local reports only the last of a transaction's writes to a table, with " +
			"index writes charged twice",
		explains: func(d difference) bool {
			return d.op("TransactWriteItems") && sameTables(d.ours.units(), d.theirs.units())
		},
	},
	{
		name: "units of writes in a batch",
		reason: "AWS charges one unit for a delete of nothing, alone and in a batch, and nothing for an index that the item is not in; DynamoDB " +
			"Local charges two in a batch, and one for each index if a part of its key is added or removed",
		explains: func(d difference) bool {
			ours, theirs := d.ours.units(), d.theirs.units()
			return d.op("BatchWriteItem") && sameTables(ours, theirs) && !slices.ContainsFunc(slices.Collect(maps.Keys(ours)), func(table string) bool {
				more := theirs[table] - ours[table]
				return more < 0 || more > d.overcharged(table)
			})
		},
	},
	{
		name:   "units of an index that the item is not in",
		rare:   true,
		reason: "an item without all of an index's key attributes is not in it; DynamoDB Local charges if a part of the key is added or removed",
		explains: func(d difference) bool {
			table, _ := d.asked["TableName"].(string)
			more := d.theirs.units()[table] - d.ours.units()[table]
			return d.op("PutItem", "UpdateItem", "DeleteItem") && more > 0 && more <= float64(len(tableNamed(table).indexes))
		},
	},
	{
		name:   "units of an update that only removes, of an item that does not exist",
		rare:   true,
		reason: "AWS creates no item, and charges one unit; DynamoDB Local creates one from the key, and charges for it",
		explains: func(d difference) bool {
			table, _ := d.asked["TableName"].(string)
			return d.op("UpdateItem") && takesAway(d.request.body) && d.ours.units()[table] == 1
		},
	},
	{
		name:   "units of AttributeUpdates without an action",
		either: true,
		rare:   true,
		reason: "AWS charges for the put; DynamoDB Local passes over it",
		explains: func(d difference) bool {
			return d.op("UpdateItem") && d.lacksAction()
		},
	},
}

// least returns the price of a read that finds nothing.
func least(read object) float64 {
	if read["ConsistentRead"] == true {
		return 1
	}
	return 0.5
}

// withMissing adds the price of keys without an item to the units of a batch.
func (d difference) withMissing(units map[string]float64) map[string]float64 {
	out := maps.Clone(units)
	reads, _ := d.asked["RequestItems"].(object)
	found, _ := d.ours.body["Responses"].(object)
	for table, read := range reads {
		read, _ := read.(object)
		out[table] += least(read) * float64(len(elements(read["Keys"]))-len(elements(found[table])))
	}
	return out
}

// overcharged returns how many units too many DynamoDB Local may charge for a
// batch's writes to a table.
func (d difference) overcharged(name string) float64 {
	tables, _ := d.asked["RequestItems"].(object)
	n := 0
	for _, w := range elements(tables[name]) {
		n += len(tableNamed(name).indexes)
		if w.(object)["DeleteRequest"] != nil {
			n++
		}
	}
	return float64(n)
}

func sameTables(a, b map[string]float64) bool {
	return maps.EqualFunc(a, b, func(float64, float64) bool { return true })
}

// undirected leaves ReadCapacityUnits and WriteCapacityUnits out.
func undirected(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, member := range v {
			if name != "ReadCapacityUnits" && name != "WriteCapacityUnits" {
				out[name] = undirected(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = undirected(e)
		}
		return out
	}
	return v
}
