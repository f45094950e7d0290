// Package jsonx reads and writes JSON in one pass, without reflection and
// without an intermediate tree: the wire format of DynamoDB is JSON, and a
// request body is read straight into what it means.
//
// A Reader is pulled. Every method consumes exactly one value, or one step of
// a container:
//
//	r := jsonx.NewReader(body)
//	r.Object()
//	for key, ok := r.Key(); ok; key, ok = r.Key() {
//		switch key {
//		case "TableName":
//			req.Table = r.String()
//		case "Limit":
//			req.Limit = r.Int()
//		case "Keys":
//			r.Array()
//			for r.More() {
//				req.Keys = append(req.Keys, r.String())
//			}
//		default:
//			r.Skip()
//		}
//	}
//	r.End()
//	if err := r.Err(); err != nil { … }
//
// The first error stays: from then on every method returns its zero value and
// every loop ends, so that a caller looks at Err once. A *SyntaxError is a body
// that is no JSON, a *TypeError is JSON of another shape than was asked for.
//
// No input, however deep, exhausts the stack: nesting is limited to MaxDepth,
// whatever the reader does.
package jsonx
