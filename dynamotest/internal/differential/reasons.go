package main

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

var knownFailures = []knownDifference{
	{
		name: "the other server fails",
		reason: "DynamoDB Local answers 500 to some mistakes, to UpdateItem with ReturnValues and without anything to update, " +
			"and to some statements with ORDER BY, IN or IS MISSING; AWS refuses the first and performs the others",
		explains: func(d difference) bool {
			bare := d.op("UpdateItem") && !d.asks("UpdateExpression") && d.asks("ReturnValues")
			return d.theirs.status == http.StatusInternalServerError && (d.ours.status == http.StatusBadRequest || bare || d.op("ExecuteStatement"))
		},
	},
	{
		name: "a member of another JSON type than it has",
		reason: "AWS answers SerializationException before it looks at anything else; DynamoDB Local takes some numbers and " +
			"truth values for text, and some nulls for nothing, and says of others what it finds wrong later",
		explains: func(d difference) bool {
			return d.request.mangled && d.ours.kind == malformed && d.theirs.kind != malformed
		},
	},
	{
		name:   "a null in a map",
		rare:   true,
		reason: "dynamotest takes it for nothing, as it takes the null of any member; DynamoDB Local refuses it, or fails. No document says what AWS does",
		explains: func(d difference) bool {
			return d.request.mangled && d.contains(":null") && !d.theirs.ok() && d.ours.kind != d.theirs.kind && d.ours.kind != malformed
		},
	},
}

// What is asked, and which of several mistakes is told.
var knownRequests = []knownDifference{
	{
		name: "a short name of a table",
		reason: "where a table is used AWS takes a name of any length, for it may be an ARN, and finds none; DynamoDB Local wants " +
			"three letters",
		explains: func(d difference) bool {
			return d.ours.kind == notFound && d.theirs.kind == validation && d.theirs.says("Invalid table/index name")
		},
	},
	{
		name: "a table that does not exist, or exists already, and another mistake",
		reason: "both refuse. AWS judges the request, as far as it can without the table, before it looks for it; DynamoDB Local judges " +
			"some of it later, and duplicates in a batch earlier",
		explains: func(d difference) bool {
			kinds := []string{d.ours.kind, d.theirs.kind}
			table := slices.Contains(kinds, notFound) || slices.Contains(kinds, "ResourceInUseException")
			return d.refused() && table && (slices.Contains(kinds, validation) || d.theirs.hasCode("ValidationError"))
		},
	},
	{
		name:   "a member that is out of its bounds",
		reason: "AWS refuses it before it does anything; DynamoDB Local ignores what is empty, or unknown beside a statement, or missing in a transaction's update, or looks at it late",
		explains: func(d difference) bool {
			members := []string{"returnConsumedCapacity", "returnItemCollectionMetrics", "billingMode", "clientRequestToken", "updateExpression"}
			return d.theirs.kind != validation && slices.ContainsFunc(members, func(name string) bool {
				return d.ours.says(name + "' failed to satisfy constraint")
			})
		},
	},
	{
		name:   "AttributeUpdates that no item can take, and a condition that is not met",
		reason: "both refuse; AWS judges the request before it reads the item, DynamoDB Local later",
		explains: func(d difference) bool {
			return d.asks("AttributeUpdates") && d.ours.kind == validation && d.theirs.kind == conditionFailed
		},
	},
	{
		name:   "AttributeUpdates that delete elements from the key of an index",
		reason: "dynamotest finds nothing to delete; DynamoDB Local wants the elements to be of the key's type, which a set never is. No document says what AWS does",
		explains: func(d difference) bool {
			return d.asks("AttributeUpdates") && d.theirs.says("Updates on index keys must be of the same data type")
		},
	},
	{
		name:   "an update that gives the key of an index another type",
		reason: "AWS refuses it, as it does a put; DynamoDB Local takes it and leaves the item out of the index",
		explains: func(d difference) bool {
			return d.theirs.kind != validation && d.ours.says("Type mismatch for Index Key")
		},
	},
	{
		name:   "REMOVE or DELETE below what an item that does not exist lacks",
		reason: "dynamotest finds nothing to remove and succeeds; DynamoDB Local calls the path invalid. No document says what AWS does",
		explains: func(d difference) bool {
			return d.ours.kind != validation && !d.ours.hasCode("ValidationError") && strings.HasPrefix(d.theirs.message, "The document path provided")
		},
	},
	{
		name: "a condition on a key longer than one may be",
		rare: true,
		reason: "AWS bounds keys wherever they stand; DynamoDB Local does where an item is named, and bounds the sort keys of a Query, not " +
			"its partition key, nor any of a statement",
		explains: func(d difference) bool {
			long := d.ours.says("Size of hashkey has exceeded") || d.isStatement() && d.ours.says("Aggregated size of all range keys has exceeded")
			return (d.op("Query") || d.isStatement()) && long && d.theirs.ok()
		},
	},
	{
		name:   "a parameter of a statement that is nested too deeply",
		rare:   true,
		reason: "AWS's limit of 32 is one for all items; DynamoDB Local does not apply it to parameters",
		explains: func(d difference) bool {
			return d.isStatement() && d.ours.says("Nesting Levels have exceeded") && d.theirs.kind != validation
		},
	},
	{
		name:   "an item of about 400 KB that has numbers",
		rare:   true,
		reason: "AWS gives the size of a number only about; DynamoDB Local counts one otherwise",
		explains: func(d difference) bool {
			return (d.ours.says("Item size") || d.theirs.says("Item size")) && d.contains("big") && (d.contains(`"N"`) || d.isStatement())
		},
	},
}

// What is read, and how far.
var knownReads = []knownDifference{
	{
		name: "a filter by what an index lacks",
		reason: "a scan of an index sees what the index holds, and in DynamoDB Local the whole item, even where AWS's global index " +
			"could not; a statement that queries an index is refused as a Query is, by DynamoDB Local it is not",
		explains: func(d difference) bool {
			name, _ := d.request.body["IndexName"].(string)
			partial := indexNamed(name).projection != "ALL"
			statement, _ := d.request.body["Statement"].(string)
			return d.op("ExecuteStatement") && d.ours.says("does not project one or more filter attributes") ||
				d.op("ExecuteStatement") && d.performed() && strings.Contains(statement, "WHERE") && strings.Contains(statement, `."`) ||
				d.op("Scan") && d.asks("IndexName") && d.performed() && partial && (d.asks("FilterExpression") || d.asks("ScanFilter"))
		},
	},
	{
		name:   "a page that goes on after the last key that the condition allows",
		rare:   true,
		reason: "AWS itself gives that key when the limit is reached there; DynamoDB Local, which looks ahead, never gives it and refuses it",
		explains: func(d difference) bool {
			return d.op("Query") && d.asks("ExclusiveStartKey") && d.ours.body["ScannedCount"] == 0. && d.theirs.says("does not match the range key predicate")
		},
	},
	{
		name:   "an empty start key",
		rare:   true,
		reason: "dynamotest takes it for none; DynamoDB Local refuses it. No document says what AWS does",
		explains: func(d difference) bool {
			start, there := d.request.body["ExclusiveStartKey"].(object)
			return there && len(start) == 0 && d.theirs.says("Exclusive Start Key must have same size")
		},
	},
	{
		name: "a page that goes on among equal keys of an index",
		rare: true,
		reason: "a start key names an item besides the index's key, and AWS goes on with those after it; DynamoDB Local skips, or shows, " +
			"all that have the key",
		explains: func(d difference) bool {
			return d.op("Query") && d.asks("IndexName") && d.performed() && d.differsAtStart()
		},
	},
	{
		name:   "ORDER BY … DESC by pages",
		rare:   true,
		reason: "the order is the statement's, however many items a page has; DynamoDB Local forgets it with a small limit",
		explains: func(d difference) bool {
			ours, theirs := d.ours.list("Items"), slices.Clone(d.theirs.list("Items"))
			slices.Reverse(theirs)
			return d.op("ExecuteStatement") && d.request.pages && d.contains("DESC") && d.only("Items") && reflect.DeepEqual(ours, theirs)
		},
	},
	{
		name: "a page that its limit ends at the last item",
		reason: "AWS gives a key to go on from, and then an empty page: the reference says that the key does not mean more items; " +
			"DynamoDB Local looks ahead",
		explains: func(d difference) bool {
			limit := fmt.Sprint(d.request.body["Limit"]) // as it was made, or mangled
			scanned, _ := d.ours.body["ScannedCount"].(float64)
			reached := strings.HasPrefix(limit, fmt.Sprint(scanned))
			return d.op("Query") && reached && d.theirs.body["LastEvaluatedKey"] == nil && d.only("LastEvaluatedKey")
		},
	},
	{
		name:   "the number 0 written in two ways, as keys of one request",
		rare:   true,
		reason: "they are one number and one key, as both agree elsewhere; DynamoDB Local compares their texts",
		explains: func(d difference) bool {
			twice := d.ours.says("contains duplicates") || d.ours.says("multiple operations on one item")
			return twice && d.theirs.kind != validation && (d.contains("-0") || d.contains("0.0")) && !d.repeatsKey()
		},
	},
}

var knownTransactions = []knownDifference{
	{
		name: "an action of a transaction that cannot be performed on the item",
		reason: "AWS cancels the transaction and gives the code ValidationError to the action, as its reference of TransactWriteItems " +
			"says; DynamoDB Local refuses the whole request, or stops at the first bad action",
		explains: func(d difference) bool {
			return d.refused() && strings.HasPrefix(d.request.op, "Transact") && d.ours.kind == cancelled && d.ours.hasCode("ValidationError")
		},
	},
	{
		name: "a mistake in a transaction that would be cancelled",
		reason: "both refuse; which is told first no document says. dynamotest judges the whole request before it reads an item; DynamoDB " +
			"Local looks for what is missing, for two actions on one item and for keys that do not fit when it has met a reason to cancel",
		explains: func(d difference) bool {
			return d.refused() && strings.HasPrefix(d.request.op, "Transact") && d.ours.kind == validation && d.theirs.kind == cancelled
		},
	},
}

var knownStatements = []knownDifference{
	{
		name: "an item that is there already, inserted",
		reason: "AWS names the error DuplicateItemException, and DuplicateItem in a transaction's reasons; DynamoDB Local cuts the one " +
			"short and calls the other ValidationError",
		explains: func(d difference) bool {
			return d.ours.kind == "DuplicateItemException" && d.theirs.kind == "DuplicateItem" ||
				d.ours.hasCode("DuplicateItem") && d.theirs.kind == cancelled && d.theirs.hasCode("ValidationError")
		},
	},
	{
		name: "a statement of a transaction that cannot be performed",
		reason: "both refuse. dynamotest cancels the transaction with a reason for each statement, as AWS does with actions; DynamoDB Local " +
			"refuses the request for the first, or cancels where the statement alone is wrong, and takes a key for a condition where it is named twice",
		explains: func(d difference) bool {
			bad := func(a answer) bool {
				return a.kind == validation || a.hasCode("ValidationError") || strings.HasPrefix(a.message, "ValidationError")
			}
			return d.op("ExecuteTransaction") && d.refused() && (bad(d.ours) || bad(d.theirs))
		},
	},
	{
		name: "what is inside an attribute, read by several statements",
		reason: "dynamotest puts it under its last name, as both do for a statement alone; DynamoDB Local shows it where it stands. No document " +
			"says what AWS does",
		explains: func(d difference) bool {
			inside := d.contains(`\".`) || d.contains("m.") || d.contains("[")
			return d.op("BatchExecuteStatement", "ExecuteTransaction") && d.contains("SELECT") && inside && d.only("Responses", "ConsumedCapacity") &&
				len(d.ours.list("Responses")) == len(d.theirs.list("Responses"))
		},
	},
	{
		name: "a further condition on a key in a statement",
		reason: "dynamotest takes what is not needed to find the items for a filter, whatever it is about; DynamoDB Local wants its operands " +
			"to be fit for the key. No document says what AWS does",
		explains: func(d difference) bool {
			unfit := d.theirs.says("Condition parameter type does not match schema type") || d.theirs.says("for a key attribute cannot contain an empty")
			return d.isStatement() && d.ours.ok() && unfit
		},
	},
	{
		name: "a batch of statements that is refused, and a mistake in one of them",
		rare: true,
		reason: "dynamotest looks for values that are none and for one item twice before it does anything; DynamoDB Local afterwards, among " +
			"the statements that did not fail. No document says what AWS does",
		explains: func(d difference) bool {
			failed := slices.ContainsFunc(d.theirs.list("Responses"), func(reply any) bool { return reply.(object)["Error"] != nil })
			return d.op("BatchExecuteStatement") && d.ours.kind == validation && d.theirs.ok() && failed
		},
	},
	{
		name:   "reads among the writes of a batch, and a statement that is none",
		rare:   true,
		reason: "dynamotest does not count it to either; DynamoDB Local does. No document says what AWS does",
		explains: func(d difference) bool {
			return d.op("BatchExecuteStatement") && d.ours.ok() && d.theirs.says("Read and write requests together")
		},
	},
	{
		name:   "an empty name inside a literal of a statement",
		rare:   true,
		reason: "AWS takes empty names inside attributes, where no path leads; DynamoDB Local does so in items, and not in statements",
		explains: func(d difference) bool {
			return d.isStatement() && d.contains("'':") && d.theirs.says("Path component cannot be an empty string")
		},
	},
	{
		name:   "the table's name beside the error of a statement",
		reason: "AWS's reference has it; DynamoDB Local leaves it out where a key is missing",
		explains: func(d difference) bool {
			unnamed := func(a answer) []any {
				var out []any
				for _, reply := range a.list("Responses") {
					if reply, ok := reply.(object); ok && reply["Error"] != nil {
						out = append(out, reply["Error"])
					} else {
						out = append(out, reply)
					}
				}
				return out
			}
			return d.op("BatchExecuteStatement") && d.only("Responses", "ConsumedCapacity") && reflect.DeepEqual(unnamed(d.ours), unnamed(d.theirs))
		},
	},
	{
		name:   "two mistakes in a statement of a batch",
		rare:   true,
		reason: "dynamotest looks for the table first; DynamoDB Local judges names and conditions first. No document says what AWS does",
		explains: func(d difference) bool {
			masked := func(a answer) []any {
				var out []any
				for _, reply := range a.list("Responses") {
					if reply.(object)["Error"] != nil {
						reply = "an error"
					}
					out = append(out, reply)
				}
				return out
			}
			return d.op("BatchExecuteStatement") && d.only("Responses", "ConsumedCapacity") && reflect.DeepEqual(masked(d.ours), masked(d.theirs))
		},
	},
}

var knownTables = []knownDifference{
	{
		name:   "throughput for a table on demand",
		reason: "AWS refuses it; DynamoDB Local ignores it",
		explains: func(d difference) bool {
			return d.op("CreateTable", "UpdateTable") && d.asks("ProvisionedThroughput") && d.ours.kind == validation && d.theirs.ok()
		},
	},
	{
		name:   "an attribute that is defined and in no key",
		rare:   true,
		reason: "AWS refuses it, as the public conformance suite has recorded; DynamoDB Local does not in every table that has indexes",
		explains: func(d difference) bool {
			return d.op("CreateTable") && d.ours.says("Some AttributeDefinitions are not used") && d.theirs.ok()
		},
	},
	{
		name:   "the protection of a table that gets an index",
		rare:   true,
		reason: "it stays, or nothing would be protected; DynamoDB Local says false until the index is there",
		explains: func(d difference) bool {
			table, _ := d.ours.body["TableDescription"].(object)
			theirs, _ := d.theirs.body["TableDescription"].(object)
			return d.op("UpdateTable") && d.performed() && table["DeletionProtectionEnabled"] == true && theirs["DeletionProtectionEnabled"] == false
		},
	},
	{
		name:   "an index changed while another one is made",
		rare:   true,
		reason: "AWS makes one at a time; those of dynamotest are ready at once, those of DynamoDB Local after a while",
		explains: func(d difference) bool {
			return d.op("UpdateTable") && d.theirs.says("Only 1 online index can be created or deleted simultaneously")
		},
	},
	{
		name:   "a global index of several sort keys",
		rare:   true,
		reason: "AWS has had them since November 2025; DynamoDB Local 2.6.1 has not",
		explains: func(d difference) bool {
			return d.op("CreateTable", "UpdateTable") && d.theirs.says("Key Schema too big")
		},
	},
}

// What a reply shows.
var knownReplies = []knownDifference{
	{
		name:   "UPDATED_OLD and UPDATED_NEW of a path inside an attribute",
		rare:   true,
		reason: "AWS shows what stands at the path, as the public conformance suite has recorded; DynamoDB Local shows the whole attribute",
		explains: func(d difference) bool {
			mode, _ := d.request.body["ReturnValues"].(string)
			ours, _ := d.ours.body["Attributes"].(object)
			theirs, _ := d.theirs.body["Attributes"].(object)
			return strings.HasPrefix(mode, "UPDATED_") && len(ours) > 0 && slices.Equal(sortedNames(ours), sortedNames(theirs)) && d.only("Attributes") ||
				d.contains("RETURNING MODIFIED") && d.only("Items", "Responses", "ConsumedCapacity")
		},
	},
	{
		name:   "the sizes of item collections",
		reason: "AWS tells them of writes to a table with a local index; DynamoDB Local never does",
		explains: func(d difference) bool {
			return d.ours.body["ItemCollectionMetrics"] != nil && d.theirs.body["ItemCollectionMetrics"] == nil && d.only("ItemCollectionMetrics", "ConsumedCapacity")
		},
	},
}

// Units that are consumed. Where they differ all else is still compared.
var knownUnits = []knownDifference{
	{
		name:   "units of a read that finds nothing",
		reason: "AWS charges the least there is, half a unit or one, a batch for each item; DynamoDB Local nothing",
		explains: func(d difference) bool {
			nothing := d.op("Query", "Scan") && d.ours.body["ScannedCount"] == 0. && d.theirs.units() == 0 && d.ours.units() <= 1
			return d.only("ConsumedCapacity") && (nothing || d.op("BatchGetItem") && d.ours.units() > d.theirs.units())
		},
	},
	{
		name:   "units of a scan that fetches from the table what a local index lacks",
		rare:   true,
		reason: "AWS charges the table for it, as both do for a Query; DynamoDB Local charges the index alone",
		explains: func(d difference) bool {
			return d.op("Scan") && d.asks("IndexName") && d.only("ConsumedCapacity") && d.ours.units() > d.theirs.units()
		},
	},
	{
		name:   "units of statements",
		reason: "AWS tells them of every statement, as its reference says; DynamoDB Local of none",
		explains: func(d difference) bool {
			return d.isStatement() && d.only("ConsumedCapacity") && d.theirs.body["ConsumedCapacity"] == nil
		},
	},
	{
		name:   "units by direction, of the tables of a transaction",
		reason: "AWS repeats ReadCapacityUnits and WriteCapacityUnits beside the units of tables and indexes; DynamoDB Local gives them for the whole alone",
		explains: func(d difference) bool {
			return strings.HasPrefix(d.request.op, "Transact") && d.only("ConsumedCapacity") && d.ours.units() == d.theirs.units()
		},
	},
	{
		name: "units of writes in transactions and batches",
		reason: "AWS charges a write in a transaction twice, its index writes once, and a delete of nothing one unit; DynamoDB Local charges " +
			"some of them the read of the item besides, others nothing, index writes fourfold, and in a batch two units for a delete of nothing",
		explains: func(d difference) bool {
			return d.op("TransactWriteItems", "BatchWriteItem") && d.only("ConsumedCapacity")
		},
	},
	{
		name:   "units of an index that the item is not in",
		rare:   true,
		reason: "an item that has not all of an index's key is not in it; DynamoDB Local charges for a part of the key that comes or goes",
		explains: func(d difference) bool {
			return d.op("PutItem", "UpdateItem", "DeleteItem") && d.only("ConsumedCapacity") && d.theirs.units() > d.ours.units()
		},
	},
}
