// Package facts holds what DynamoDB was seen to answer, as data, and asks any
// endpoint whether it answers so.
//
// A file data/GROUP.jsonl has a fact in each line:
//
//	{"id": "get/not-there", "source": "AWS, public suite", "seen": "2026-05", "tables": ["hash_s"],
//	 "steps": [{"op": "GetItem", "body": {"TableName": "$hash_s", "Key": {"pk": {"S": "a"}}},
//	            "expect": {"ok": true, "lacks": ["Item"]}}]}
//
// seen is when AWS answered so. A fact without it was not seen there: its source says
// whose word it is. The steps are sent in turn. An op is that of DynamoDB, or with
// "Streams:" before it that of DynamoDB Streams. In a body
//
//	$NAME                        is the name of the table that data/tables.json defines
//	$new:NAME                    is the name of a table that the fact makes itself
//	$kept:NAME                   is what an earlier step's "keep": {"NAME": "path.in.reply"} kept
//	{"$repeat": ["x", 409600]}   is a text as often, and with a third element that at the end
//	{"$nest": [63, {"S": "x"}]}  is a value in as many lists
//
// and of the reply is expected
//
//	ok      the status 200
//	error   the error's type, after the #
//	message the error's text
//	match   regular expressions that the text matches
//	has     what the reply has: a list with these elements, a map with these members and maybe more;
//	        {"$match": "…"} is a text that matches, {"$length": 2} what has so many elements,
//	        {"$least": 1} and {"$most": 9} a number so large, {"$contains": "x"} a list that has it,
//	        {"$without": "x"} one that has not, {"$unordered": […]} one of these in any order,
//	        {"$present": true} anything
//	lacks   paths that the reply does not have
//	cancel  the codes of CancellationReasons
//	any     expectations of which one is met
//
// A step with retries is sent again until it answers as expected.
package facts
