// Package expr is DynamoDB's expression language: conditions and filters,
// updates, projections and key conditions.
//
// An expression passes three stages. Parsing depends on the source alone: its
// result is immutable and may be kept and used by many goroutines, and so may
// its error. Binding resolves the placeholders of one request, and makes all
// checks that are possible without an item. Evaluation is applied to items.
//
//	params, err := expr.NewParams(names, values)        // once a request
//
//	cond, err := expr.ParseCondition(expr.ConditionExpression, src)
//	where, err := cond.Bind(params)
//	ok := where.Match(item)                             // a nil item has no attributes
//
//	upd, err := expr.ParseUpdate(src)
//	set, err := upd.Bind(params)
//	after, err := set.Apply(before)                     // a new map, before is untouched
//	old, new := set.Old(before), set.New(after)         // UPDATED_OLD, UPDATED_NEW
//	heads, size := set.Heads(), set.Charge()            // key attributes? too large?
//
//	proj, err := expr.ParseProjection(src)
//	pick, err := proj.Bind(params)
//	out := pick.Apply(item)
//
//	kc, err := expr.ParseKeyCondition(src)
//	keys, err := kc.Bind(params)
//	q, err := keys.Resolve([]string{"pk"}, []string{"sk"})  // against a table's or index's key
//
//	err = params.Unused()                               // when all are bound
//
// Every error is an *Error: a ValidationException whose text is its Error(). No
// source makes the package panic: the length, the depth and the number of
// operators are limited.
package expr
