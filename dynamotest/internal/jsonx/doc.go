// Package jsonx reads and writes JSON in one pass, without reflection and
// without an intermediate tree. The wire format of DynamoDB is JSON, and a
// request body is read directly into the request.
//
// The caller pulls from a Reader. Every method consumes exactly one value, or
// one step of a container:
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
// every loop ends, so that a caller checks Err once. A *SyntaxError means that
// a body is not JSON, a *TypeError that a value has another type than the one
// read.
//
// No input exhausts the stack: the Reader limits nesting to MaxDepth.
package jsonx
