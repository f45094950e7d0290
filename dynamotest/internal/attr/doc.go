// Package attr has DynamoDB's attribute values: their kinds, their wire format,
// their size in DynamoDB's bytes, their order and the arithmetic of numbers.
//
// A Value is immutable and small. An item is a Map: fields sorted by name. It
// is never changed in place, so that snapshots and indexes can share it.
//
//	item, err := attr.DecodeMap(r)             // r is a *jsonx.Reader
//	name, ok := item.Get("name")               // name.Kind() == attr.S, name.Str()
//	item = item.With("n", attr.Int(3))         // a copy
//	size := item.Size()                        // what DynamoDB would bill
//	body = item.AppendJSON(body)               // {"n":{"N":"3"}, …}
//	key := attr.AppendKey(nil, value)          // bytes.Compare is DynamoDB's order
//
// # Two kinds of errors
//
// DynamoDB reads the whole request before it checks any of it. So decoding has
// two kinds of errors. JSON that is malformed or of the wrong shape is a
// SerializationException. It stops the reader, see jsonx.Reader.Err. A value
// that is well-formed but not allowed (an empty set, a number of 39 digits) is
// a ValidationException. Reading goes on, and the first one is returned as an
// *Error, which the engine reports at the right time.
//
// # Numbers
//
// A number has up to 38 significant digits and a magnitude between 1E-130 and
// 9.99…E+125. It is kept as canonical text: plain decimal without needless
// zeros, so that equal numbers are equal strings. A sum is exact or refused,
// never rounded.
//
// # Sets
//
// A set is kept sorted, strings and binaries by bytes, numbers by value. It has
// no duplicates, so equal sets have equal elements in equal places.
package attr
