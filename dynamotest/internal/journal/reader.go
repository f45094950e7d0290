package journal

import (
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// A Reader reads entries. It does not skip unknown members, because every member
// matters.
type Reader struct{ *jsonx.Reader }

// Members reads an object; member reads each member by its name.
func (r *Reader) Members(member func(name string)) {
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		member(name)
	}
}

// Elements reads an array.
func (r *Reader) Elements(element func()) {
	r.Array()
	for r.More() {
		element()
	}
}

// Time reads a time.
func (r *Reader) Time() time.Time {
	t, err := ParseTime(string(r.Raw()))
	if err != nil {
		r.Fail(err)
	}
	return t
}

// Item reads an item.
func (r *Reader) Item() attr.Map {
	m, err := attr.DecodeMap(r.Reader)
	if err != nil {
		r.Fail(err)
	}
	return m
}

// Unknown refuses a member.
func (r *Reader) Unknown(member string) { r.Fail(fmt.Errorf("unknown member %q", member)) }
