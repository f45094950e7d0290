package main

import (
	"reflect"
	"strings"
)

var knownTables = []knownDifference{
	{
		name:   "throughput for a table on demand",
		reason: "AWS refuses it; DynamoDB Local ignores it",
		explains: func(d difference) bool {
			refused := d.ours.says("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified", "ProvisionedThroughput should not be specified for index",
				"rovisionedThroughput.readCapacityUnits' failed", "rovisionedThroughput.writeCapacityUnits' failed")
			return d.op("CreateTable", "UpdateTable") && refused && d.theirs.ok()
		},
	},
	{
		name:   "the protection of a table that is changed",
		rare:   true,
		reason: "it stays, because otherwise nothing would be protected; DynamoDB Local removes it with some changes",
		explains: func(d difference) bool {
			ours, _ := d.ours.body["TableDescription"].(object)
			theirs, _ := d.theirs.body["TableDescription"].(object)
			const protection = "DeletionProtectionEnabled"
			return d.op("UpdateTable") && d.only("TableDescription") && ours[protection] == true && theirs[protection] == false &&
				reflect.DeepEqual(without(ours, protection), without(theirs, protection))
		},
	},
	{
		name:   "the indexes of a table that is on demand now",
		rare:   true,
		reason: "on AWS an index has the capacity mode of its table; DynamoDB Local describes the throughput that the index had",
		explains: func(d difference) bool {
			ours, theirs := d.ours.body["TableDescription"], d.theirs.body["TableDescription"]
			onDemand := d.asked["BillingMode"] == "PAY_PER_REQUEST" && reflect.DeepEqual(ours, any(withoutIndexUnits(ours)))
			return d.op("UpdateTable") && d.only("TableDescription") && onDemand && reflect.DeepEqual(withoutIndexUnits(ours), withoutIndexUnits(theirs))
		},
	},
	{
		name: "an attribute that is defined and not in a key",
		rare: true,
		reason: "AWS refuses a new table with such an attribute, DynamoDB Local does not if the table has indexes (nubo-db/dynamodb-conformance 0ba43936, tests/tier1/createTable/basic.test.ts, May 2026). " +
			"dynamotest does not describe such an attribute that comes with a new index; DynamoDB Local does. No document says what AWS does",
		explains: func(d difference) bool {
			created := d.op("CreateTable") && d.ours.says("Some AttributeDefinitions are not used") && d.theirs.ok()
			ours, _ := d.ours.body["TableDescription"].(object)
			theirs, _ := d.theirs.body["TableDescription"].(object)
			return created || d.op("UpdateTable") && d.only("TableDescription") && within(ours["AttributeDefinitions"], theirs["AttributeDefinitions"]) &&
				reflect.DeepEqual(without(ours, "AttributeDefinitions"), without(theirs, "AttributeDefinitions"))
		},
	},
	{
		name:   "a change of an index that does not exist",
		either: true,
		rare:   true,
		reason: "AWS answers ResourceNotFoundException, as its reference of UpdateTable says; DynamoDB Local answers ValidationException",
		explains: func(d difference) bool {
			return d.op("UpdateTable") && d.ours.kind == notFound && d.theirs.says("Invalid global secondary index name")
		},
	},
}

// The parts of a changed item that a reply shows.
var knownShown = []knownDifference{
	{
		name:   "a change inside an attribute",
		rare:   true,
		reason: "AWS shows the value at the path (paritysuite/dynamodb-conformance, tests/tier1/updateItem/basic.test.ts, October 2026); DynamoDB Local shows the whole attribute",
		explains: func(d difference) bool {
			mode, _ := d.asked["ReturnValues"].(string)
			update := strings.HasPrefix(mode, "UPDATED_") && d.only("Attributes") && within(d.ours.body["Attributes"], d.theirs.body["Attributes"])
			statement := d.op("ExecuteStatement") && d.only("Items") && within(d.ours.body["Items"], d.theirs.body["Items"])
			return d.op("UpdateItem") && update || d.contains("RETURNING MODIFIED") && (statement ||
				d.eachReply(func(_ string, ours, theirs object) bool { return within(ours["Item"], theirs["Item"]) }))
		},
	},
}
