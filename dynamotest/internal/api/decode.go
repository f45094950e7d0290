package api

import (
	"errors"
	"math"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// A Request is one operation's parameters.
type Request interface {
	// field reads the member called name, or skips an unknown one, as DynamoDB
	// does.
	field(r *jsonx.Reader, name string)
	check(c *checker)
}

// Opt is a member that may be absent.
type Opt[T any] struct {
	Value T
	Set   bool
}

// Some returns a member that is set.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Set: true} }

// Or returns the member's value, or otherwise if it is absent.
func (o Opt[T]) Or(otherwise T) T {
	if o.Set {
		return o.Value
	}
	return otherwise
}

// readers are kept because each of them keeps the attribute names that it has
// read, so that the items of a table share them.
var readers = sync.Pool{New: func() any { return jsonx.NewReader(nil) }}

// Decode reads a request and checks its constraints.
func Decode(body []byte, req Request) *Error {
	r := readers.Get().(*jsonx.Reader)
	defer func() {
		r.Reset(nil)
		readers.Put(r)
	}()

	r.Reset(body)
	r.Object()
	for name, ok := member(r); ok; name, ok = member(r) {
		req.field(r, name)
	}

	r.End()
	if err := r.Err(); err != nil {
		return serialization(err)
	}

	c := checker{deep: r.Deepest() > newerDepth}
	req.check(&c)
	return c.err()
}

func serialization(err error) *Error {
	var wrongType *jsonx.TypeError
	var invalid *Error
	switch {
	case errors.As(err, &wrongType):
		return &Error{Code: SerializationException, Message: wrongType.Error()}
	case errors.As(err, &invalid):
		return invalid
	}
	return &Error{Code: SerializationException}
}

// object reads an object; field reads its members.
func object(r *jsonx.Reader, field func(r *jsonx.Reader, name string)) {
	r.Object()
	for name, ok := member(r); ok; name, ok = member(r) {
		field(r, name)
	}
}

// member reads the name of an object's next member. A member that is null counts
// as absent.
func member(r *jsonx.Reader) (name string, ok bool) {
	for name, ok = r.Key(); ok && r.Null(); {
		name, ok = r.Key()
	}
	return name, ok
}

// mapped reads an object whose members have names of the client's choice. Unlike
// in a request, a member that is null counts as present.
func mapped(r *jsonx.Reader, entry func(r *jsonx.Reader, name string, null bool)) {
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		entry(r, name, r.Null())
	}
}

// list reads an array. Of an array that is too long it keeps only one element more
// than allowed, which is enough to refuse it. So millions of elements need no
// memory, and a wrong type is still found anywhere.
func list[T any](r *jsonx.Reader, most int, element func(r *jsonx.Reader) T) []T {
	out := []T{}
	r.Array()
	for r.More() {
		if e := element(r); len(out) <= most {
			out = append(out, e)
		}
	}
	return out
}

// unbounded is the most elements of a list without a limit.
const unbounded = math.MaxInt

func text(r *jsonx.Reader) Opt[string]   { return Some(r.String()) }
func name(r *jsonx.Reader) Opt[string]   { return Some(r.Name()) }
func boolean(r *jsonx.Reader) Opt[bool]  { return Some(r.Bool()) }
func integer(r *jsonx.Reader) Opt[int64] { return Some(r.Int()) }

// An Item is a map of attributes and their error, which is reported only if the
// constraints of the request are met.
type Item struct {
	attr.Map
	Set bool
	Err error
}

// Wrong returns the error of the attributes, or nil.
func (i *Item) Wrong() *Error {
	if i.Err == nil {
		return nil
	}
	return Wrong(i.Err)
}

func item(r *jsonx.Reader) Item {
	m, err := attr.DecodeMap(r)
	return Item{Map: m, Set: true, Err: err}
}

// Expressions are the members that the expressions of one request share.
type Expressions struct {
	Names  Opt[map[string]string]
	Values Item

	// Older are the parameters that expressions have replaced; nil without any.
	Older *Older

	substituted int // bytes of names and values so far
}

func (e *Expressions) field(r *jsonx.Reader, name string) {
	switch name {
	case "ExpressionAttributeNames":
		e.Names = Some(e.names(r))
	case "ExpressionAttributeValues":
		if e.Values = item(r); e.Values.Err == nil {
			e.substitute(r, e.Values.Size())
		}
	default:
		r.Skip()
	}
}

func (e *Expressions) names(r *jsonx.Reader) map[string]string {
	out := map[string]string{}
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		out[name] = r.Name()
		e.substitute(r, len(name)+len(out[name]))
	}
	return out
}

// maxSubstituted is the most bytes of the names and values of expressions.
const maxSubstituted = 2 << 20

var errSubstituted = ByRequest(Invalid("ExpressionAttributeNames and ExpressionAttributeValues together exceed the maximum of %d bytes", maxSubstituted))

// substitute counts bytes of names or values. It ends the reading of the request
// if they are too many.
func (e *Expressions) substitute(r *jsonx.Reader, bytes int) {
	if e.substituted += bytes; e.substituted > maxSubstituted {
		r.Fail(errSubstituted)
	}
}
