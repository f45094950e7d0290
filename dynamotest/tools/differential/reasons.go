package main

import (
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

var knownFailures = []knownDifference{
	{
		name: "the other server fails",
		reason: "DynamoDB Local answers 500 to some mistakes, to UpdateItem with ReturnValues and without anything to update, " +
			"and to some statements with ORDER BY, IN or IS MISSING; AWS refuses the first and performs the others. DynamoDB Local also " +
			"never deletes an index that has the partition key of its table",
		explains: func(d difference) bool {
			bare := d.op("UpdateItem") && !d.asks("UpdateExpression") && d.asks("ReturnValues")
			hard := d.op("ExecuteStatement") && (d.contains("ORDER BY") || d.contains(" IN ") || d.contains("MISSING"))
			return d.theirs.status == http.StatusInternalServerError && (d.ours.status == http.StatusBadRequest || bare || hard || d.theirs.kind == neverReady)
		},
	},
	{
		name: "a member of the wrong JSON type",
		reason: "AWS answers SerializationException before it looks at anything else; DynamoDB Local takes some numbers and " +
			"booleans as text, ignores some nulls, and reports other such members later, with another error",
		explains: func(d difference) bool {
			return d.request.mangled && d.ours.kind == malformed && d.theirs.kind != malformed
		},
	},
}

// Requests, and which of several mistakes is reported.
var knownRequests = []knownDifference{
	{
		name:   "the form of a table's name",
		either: true,
		reason: "where a table is used AWS takes a name of any length, because it may be an ARN, and finds no table; DynamoDB Local requires " +
			"three letters, and in statements valid ones",
		explains: func(d difference) bool {
			form := d.theirs.says("Invalid table/index name", "Table name should be within the length")
			return d.ours.kind == notFound && d.theirs.kind == validation && form
		},
	},
	{
		name:   "a table that does not exist, or exists already, and another mistake",
		either: true,
		reason: "both refuse. AWS judges the request, as far as it can without the table, before it looks for it; DynamoDB Local judges " +
			"some of it later, and duplicates in a batch earlier",
		explains: func(d difference) bool {
			kinds := []string{d.ours.kind, d.theirs.kind}
			table := slices.Contains(kinds, notFound) && !d.ours.says("not found: Index:") || slices.Contains(kinds, "ResourceInUseException")
			return d.refused() && d.strange() && table && (slices.Contains(kinds, validation) || d.theirs.hasCode("ValidationError") || strings.HasPrefix(d.theirs.message, "ValidationError"))
		},
	},
	{
		name:   "a member that is out of its bounds",
		reason: "AWS refuses it before it does anything; DynamoDB Local checks it late, or ignores it if it is empty, unknown beside a statement, an unknown view of a stream or conditional operator, or missing in a transaction's update",
		explains: func(d difference) bool {
			members := []string{
				"returnConsumedCapacity", "returnItemCollectionMetrics", "billingMode", "clientRequestToken", "updateExpression", "attributesToGet", "select", "keyType", "readCapacityUnits", "writeCapacityUnits",
				"returnValues", "returnValuesOnConditionCheckFailure", "streamViewType",
			}
			return d.theirs.kind != validation && slices.ContainsFunc(members, func(name string) bool {
				return d.ours.says(name + "' failed to satisfy constraint")
			}) || d.theirs.ok() && d.asks("ConditionalOperator") && d.ours.says("enum value set: [ALL, OR]")
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
		name:   "AttributeUpdates without an action",
		either: true,
		rare:   true,
		reason: "AWS's reference has PUT as the default; DynamoDB Local 3.3.1 passes over them",
		explains: func(d difference) bool {
			return d.op("UpdateItem") && d.lacksAction() && d.only("Attributes")
		},
	},
	{
		name:   "AttributeUpdates that delete elements from the key of an index",
		reason: "dynamotest finds nothing to delete; DynamoDB Local requires elements of the key's type, which a set never has. No document says what AWS does",
		explains: func(d difference) bool {
			return d.asks("AttributeUpdates") && d.theirs.says("Updates on index keys must be of the same data type")
		},
	},
	{
		name:   "an update that gives the key of an index another type",
		reason: "AWS refuses it, as it refuses such a put; DynamoDB Local accepts it and leaves the item out of the index",
		explains: func(d difference) bool {
			return d.theirs.kind != validation && d.ours.says("Type mismatch for Index Key", "update the secondary index key to unsupported type")
		},
	},
	{
		name: "REMOVE or DELETE below an attribute of an item that does not exist",
		reason: "AWS finds nothing to remove and succeeds, as a public test suite that was run against AWS has recorded for REMOVE; DynamoDB " +
			"Local calls the path invalid",
		explains: func(d difference) bool {
			removes := d.contains("REMOVE") || d.contains("DELETE")
			return removes && d.ours.kind != validation && !d.ours.hasCode("ValidationError") && strings.HasPrefix(d.theirs.message, "The document path provided")
		},
	},
	{
		name: "an update that only removes, of an item that does not exist",
		reason: "AWS creates no item, as the tests of another server that were run against AWS have recorded; DynamoDB Local creates one from " +
			"the key",
		explains: func(d difference) bool {
			return d.op("UpdateItem") && takesAway(d.request.body) && d.only("Attributes") && d.ours.body["Attributes"] == nil &&
				sameNames(d.theirs.body["Attributes"], d.asked["Key"])
		},
	},
	{
		name: "a query of one item with a start key",
		reason: "AWS refuses a start key where there is no sort key, as the tests of another server that were run against AWS have recorded; " +
			"DynamoDB Local finds nothing after it",
		explains: func(d difference) bool {
			return d.op("Query") && d.ours.says("The provided exclusive start key is invalid") && d.theirs.ok()
		},
	},
	{
		name: "a key that is too long, where no item is named",
		rare: true,
		reason: "AWS limits the length of all keys; DynamoDB Local does so where an item is named, and for the sort keys of a Query, but not for " +
			"its partition key or for the keys of a statement or a start key",
		explains: func(d difference) bool {
			sort := d.isStatement() || d.ours.says("starting key is invalid")
			long := d.ours.says("Size of hashkey has exceeded") || sort && d.ours.says("Aggregated size of all range keys has exceeded")
			return (d.op("Query", "Scan") || d.isStatement()) && long && d.theirs.kind != validation
		},
	},
	{
		name: "a zero whose exponent is out of range",
		reason: "AWS's newer code, which reads the values of all operations but BatchWriteItem and statements, refuses it like other " +
			"numbers, which was seen for PutItem; DynamoDB Local has only the older code",
		explains: func(d difference) bool {
			newer := !d.op("BatchWriteItem") && !d.isStatement()
			range32 := d.ours.says("Number overflow") || d.ours.says("Number underflow")
			return newer && range32 && d.contains(`"0e9999"`) && d.theirs.kind != validation
		},
	},
	{
		name:   "a parameter of a statement that is nested too deeply",
		rare:   true,
		reason: "AWS's limit of 32 holds for all items; DynamoDB Local does not apply it to parameters",
		explains: func(d difference) bool {
			return d.isStatement() && d.ours.says("Nesting Levels have exceeded") && d.theirs.kind != validation
		},
	},
	{
		name:   "SIZE as the name of an attribute",
		rare:   true,
		reason: "it is one of AWS's reserved words; DynamoDB Local takes it as a name where no parenthesis follows",
		explains: func(d difference) bool {
			return strings.HasSuffix(d.ours.message, "reserved keyword: size") && d.theirs.kind != validation
		},
	},
	{
		name:   "an item of about 400 KB that has numbers",
		either: true,
		rare:   true,
		reason: "AWS documents the size of a number only approximately; DynamoDB Local counts it differently",
		explains: func(d difference) bool {
			return (d.ours.says("Item size") || d.theirs.says("Item size")) && d.contains("big") && (d.contains(`"N"`) || d.isStatement())
		},
	},
}

// Reads, and where their pages end.
var knownReads = []knownDifference{
	{
		name:   "a filter by attributes that an index lacks",
		either: true,
		reason: "a scan of an index sees only the attributes of the index, in DynamoDB Local the whole item, even where AWS's global index " +
			"could not; AWS refuses a statement that queries an index as it refuses a Query, DynamoDB Local does not",
		explains: func(d difference) bool {
			refused := d.op("ExecuteStatement") && d.ours.says("does not project one or more filter attributes") && d.theirs.ok()
			return refused || d.op("Scan", "ExecuteStatement") && d.filtersByLack() && d.only("Items", "Count", "ScannedCount", "LastEvaluatedKey")
		},
	},
	{
		name:   "a page that goes on after the last key that the condition allows",
		rare:   true,
		reason: "AWS itself gives that key when the limit is reached there; DynamoDB Local looks ahead, so it never gives that key, and refuses it",
		explains: func(d difference) bool {
			return d.op("Query") && d.asks("ExclusiveStartKey") && d.ours.body["ScannedCount"] == 0. && d.theirs.says("does not match the range key predicate")
		},
	},
	{
		name:   "a page that goes on among equal keys of an index",
		either: true,
		rare:   true,
		reason: "a start key names an item as well as the index's key, and AWS goes on with the items after it; DynamoDB Local skips, or shows, " +
			"all items with that index key",
		explains: func(d difference) bool {
			return d.op("Query") && d.asks("IndexName") && d.only("Items", "Count", "ScannedCount", "LastEvaluatedKey") && d.differsAtStart()
		},
	},
	{
		name:   "ORDER BY … DESC by pages",
		rare:   true,
		reason: "the order is the statement's, for any size of a page; DynamoDB Local forgets it with a small limit",
		explains: func(d difference) bool {
			ours, theirs := d.ours.list("Items"), slices.Clone(d.theirs.list("Items"))
			slices.Reverse(theirs)
			return d.op("ExecuteStatement") && d.request.pages && d.only("Items") && reflect.DeepEqual(ours, theirs) && d.descends(ours)
		},
	},
	{
		name: "a page that its limit ends at the last item",
		reason: "AWS gives a key to go on from, and then an empty page: the reference says that the key does not mean more items; " +
			"DynamoDB Local looks ahead",
		explains: func(d difference) bool {
			limit, _ := d.asked["Limit"].(float64)
			reached := limit > 0 && d.ours.body["ScannedCount"] == math.Trunc(limit)
			return d.op("Query") && reached && d.theirs.body["LastEvaluatedKey"] == nil && d.only("LastEvaluatedKey")
		},
	},
	{
		name:   "a number written in two ways, as keys of one request",
		rare:   true,
		reason: "they are one number and one key, as both agree elsewhere; DynamoDB Local compares their texts",
		explains: func(d difference) bool {
			twice := d.ours.says("contains duplicates", "multiple operations on one item")
			return twice && d.theirs.kind != validation && d.repeats(true) && !d.repeats(false)
		},
	},
}

var knownTransactions = []knownDifference{
	{
		name:   "an action of a transaction that cannot be performed on the item",
		either: true,
		reason: "AWS cancels the transaction and gives the code ValidationError to the action, as its reference of TransactWriteItems " +
			"says; DynamoDB Local refuses the whole request, or stops at the first bad action",
		explains: func(d difference) bool {
			codes := d.theirs.list("Codes")
			if d.isStatement() { // statements are judged before any condition
				codes = slices.DeleteFunc(slices.Clone(codes), func(code any) bool { return code == "None" })
			}
			alone := slices.Equal(codes, []any{"ValidationError"})
			early := d.theirs.kind == validation || d.theirs.kind == cancelled && alone || d.theirs.cancelsAs(d.ours)
			return d.isTransaction() && d.ours.kind == cancelled && d.ours.hasCode("ValidationError") && early
		},
	},
	{
		name:   "an action of a transaction after one that cannot be performed",
		either: true, // with another reason
		rare:   true,
		reason: "AWS judges nothing after the first, as recordings of another server's tests show; DynamoDB Local judges the conditions " +
			"after it, and reports keys that are too long for every action",
		explains: func(d difference) bool {
			theirs := slices.Clone(d.theirs.list("Codes"))
			if i := slices.Index(theirs, any("ValidationError")); i >= 0 {
				for j := range theirs[i+1:] {
					theirs[i+1+j] = "None"
				}
			}
			first := answer{kind: d.theirs.kind, body: object{"Codes": theirs}}
			return d.isTransaction() && d.ours.hasCode("ValidationError") && first.cancelsAs(d.ours)
		},
	},
	{
		name: "an item without any of the attributes that a transaction reads",
		reason: "AWS's reference of TransactGetItems says that its response is empty, like that of an item that does not exist, and ExecuteTransaction " +
			"has the same response; DynamoDB Local shows an empty item",
		explains: func(d difference) bool {
			theirs := slices.Clone(d.theirs.list("Responses"))
			for i := range theirs {
				reply, _ := theirs[i].(object)
				if item, ok := reply["Item"].(object); ok && len(item) == 0 {
					theirs[i] = object{}
				}
			}
			return d.op("TransactGetItems", "ExecuteTransaction") && d.only("Responses") && reflect.DeepEqual(d.ours.list("Responses"), theirs)
		},
	},
	{
		name: "a mistake in a transaction that would be cancelled",
		reason: "both refuse; no document says which is reported first. dynamotest judges the whole request before it reads an item; DynamoDB " +
			"Local looks for missing members, for two actions on one item and for keys that do not fit only after it has found a reason to cancel, and " +
			"cancels for a statement without a key",
		explains: func(d difference) bool {
			late := d.repeats(true) || d.isStatement() && d.ours.says("multiple operations on one item") || d.ours.says("Member must not be null", "Two document paths", "Validation failed in TransactStatements")
			invalid := d.theirs.hasCode("ValidationError") || d.theirs.says("number of conditions on the keys", "Type mismatch for key")
			return d.isTransaction() && d.ours.kind == validation && d.theirs.kind == cancelled && (late || invalid)
		},
	},
	{
		name: "an existing item that is inserted",
		reason: "AWS names the error DuplicateItemException, and DuplicateItem in a transaction's reasons; DynamoDB Local shortens the " +
			"first and calls the second ValidationError",
		explains: func(d difference) bool {
			theirs := slices.Clone(d.theirs.list("Codes"))
			for i, code := range d.ours.list("Codes") {
				if code == "DuplicateItem" && i < len(theirs) && theirs[i] == "ValidationError" {
					theirs[i] = code
				}
			}
			renamed := answer{kind: d.theirs.kind, body: object{"Codes": theirs}}
			return d.op("ExecuteStatement") && d.ours.kind == "DuplicateItemException" && d.theirs.kind == "DuplicateItem" ||
				d.op("ExecuteTransaction") && d.ours.hasCode("DuplicateItem") && renamed.cancelsAs(d.ours)
		},
	},
}

var knownStatements = []knownDifference{
	{
		name:   "conditions joined by OR that may find one item",
		rare:   true,
		reason: "AWS refuses them where their sort keys overlap; DynamoDB Local does not",
		explains: func(d difference) bool {
			return d.op("ExecuteStatement") && d.ours.says("Overlapping conditions with range keys") && d.theirs.ok()
		},
	},
	{
		name:   "ORDER BY without the partition",
		rare:   true,
		reason: "AWS refuses it if WHERE does not pin a partition key; DynamoDB Local accepts it if WHERE compares the key in another way",
		explains: func(d difference) bool {
			return d.op("ExecuteStatement") && d.ours.says("Must have at least one non-optional hash key condition") && d.theirs.ok()
		},
	},
	{
		name: "a further condition on a key in a statement",
		reason: "dynamotest takes any condition that is not needed to find the items as a filter; DynamoDB Local requires operands " +
			"that fit the key. No document says what AWS does",
		explains: func(d difference) bool {
			unfit := d.theirs.says("Condition parameter type does not match schema type", "for a key attribute cannot contain an empty",
				"Key attribute's data type should match", "Multiple conditions on same key")
			return d.isStatement() && d.ours.kind != validation && unfit
		},
	},
	{
		name: "a batch of statements that is refused, and a mistake in one of them",
		rare: true,
		reason: "dynamotest looks for members out of their bounds and for duplicate items before it does anything; DynamoDB Local " +
			"afterwards, among the statements that did not fail. No document says what AWS does",
		explains: func(d difference) bool {
			failed := slices.ContainsFunc(d.theirs.list("Responses"), func(reply any) bool { return reply.(object)["Error"] != nil })
			refused := d.ours.kind == validation && d.ours.says("item keys contains duplicates", "failed to satisfy constraint")
			return d.op("BatchExecuteStatement") && refused && d.theirs.ok() && failed
		},
	},
	{
		name:   "an invalid value among the parameters of a batch",
		reason: "AWS refuses only its statement, as a public test suite that was run against AWS has recorded; DynamoDB Local refuses the batch",
		explains: func(d difference) bool {
			value := d.theirs.says("cannot be converted into a number", "Input collection", "Number overflow", "Number underflow", "significant digits",
				"may not be empty", "should not be empty", "Empty attribute name", "Supplied AttributeValue", "Null attribute value")
			return d.op("BatchExecuteStatement") && d.ours.ok() && d.theirs.kind == validation && value &&
				slices.ContainsFunc(d.ours.list("Responses"), func(reply any) bool { return code(reply.(object)) == "ValidationError" })
		},
	},
	{
		name:   "reads among the writes of a batch, and an invalid statement",
		rare:   true,
		reason: "dynamotest counts the invalid statement neither as a read nor as a write; DynamoDB Local does. No document says what AWS does",
		explains: func(d difference) bool {
			return d.op("BatchExecuteStatement") && d.ours.ok() && d.theirs.says("Read and write requests together")
		},
	},
	{
		name:   "an empty name inside a literal of a statement",
		rare:   true,
		reason: "AWS takes empty names inside attributes, where no path leads; DynamoDB Local does so in items, but not in statements",
		explains: func(d difference) bool {
			return d.isStatement() && d.contains("'':") && d.theirs.says("Path component cannot be an empty string")
		},
	},
	{
		name:   "the table's name beside the error of a statement",
		reason: "AWS's reference has it; DynamoDB Local leaves it out if a key is missing",
		explains: func(d difference) bool {
			return d.eachReply(func(_ string, ours, theirs object) bool {
				return code(ours) != nil && code(ours) == code(theirs) && theirs["TableName"] == nil
			})
		},
	},
	{
		name:   "two mistakes in a statement of a batch",
		either: true,
		rare:   true,
		reason: "no document says which is reported first: that the table does not exist, or what else is wrong with the statement",
		explains: func(d difference) bool {
			return d.eachReply(func(statement string, ours, theirs object) bool {
				codes := []any{code(ours), code(theirs)}
				return strangeStatement(statement) && slices.Contains(codes, any("ResourceNotFound")) && slices.Contains(codes, any("ValidationError"))
			})
		},
	},
}

// Replies to requests, and the types of errors. The first one that explains a
// difference is its reason.
var knownReplies = slices.Concat(knownFailures, knownRequests, knownReads, knownTransactions, knownStatements, knownTables, knownShown)
