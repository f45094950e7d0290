// Package facts holds answers of DynamoDB as data, and checks whether any
// endpoint gives the same answers.
//
// A file data/GROUP.jsonl has a fact in each line:
//
//	{"id": "get/not-there", "source": "AWS, public suite", "seen": "2026-05", "tables": ["hash_s"],
//	 "steps": [{"op": "GetItem", "body": {"TableName": "$hash_s", "Key": {"pk": {"S": "a"}}},
//	            "expect": {"ok": true, "lacks": ["Item"]}}]}
//
// seen is when AWS gave the answer. A fact without it was not seen on AWS: its
// source says who claims it. The steps are sent in turn. An op is an operation of
// DynamoDB, or with "Streams:" before it one of DynamoDB Streams. In a body
//
//	$NAME                        is the name of a table that data/tables.json defines
//	$new:NAME                    is the name of a table that the fact itself makes
//	$kept:NAME                   is a value of an earlier reply, which "keep": {"NAME": "path.in.reply"} kept
//	{"$repeat": ["x", 409600]}   is a text that many times; a third element is added once at the end
//	{"$nest": [63, {"S": "x"}]}  is a value inside that many nested lists
//
// and expectations of the reply are
//
//	ok      the status 200
//	error   the error's type, after the #
//	message the error's text
//	match   regular expressions that the text matches
//	has     what the reply has: a list with these elements, a map with these members and maybe more;
//	        {"$match": "…"} is a text that matches, {"$length": 2} has that many elements,
//	        {"$least": 1} and {"$most": 9} bound a number, {"$contains": "x"} is a list with "x",
//	        {"$without": "x"} a list without it, {"$unordered": […]} a list of these in any order,
//	        {"$present": true} is any value
//	lacks   paths that the reply does not have
//	cancel  the codes of CancellationReasons
//	any     expectations, one of which is met
//
// A step with retries is sent again until it answers as expected.
package facts
