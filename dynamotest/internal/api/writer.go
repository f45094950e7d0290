package api

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// A Writer appends a reply. It sees by the last byte whether a comma is due.
type Writer struct{ Buf []byte }

func (w *Writer) comma() {
	if n := len(w.Buf); n > 0 && w.Buf[n-1] != '{' && w.Buf[n-1] != '[' && w.Buf[n-1] != ':' {
		w.Buf = append(w.Buf, ',')
	}
}

// Grow makes room for n bytes.
func (w *Writer) Grow(n int) { w.Buf = slices.Grow(w.Buf, n) }

// Open begins an object or an array, as an element or, after Key, as a member.
func (w *Writer) Open(bracket byte) {
	w.comma()
	w.Buf = append(w.Buf, bracket)
}

// Close ends what Open began.
func (w *Writer) Close(bracket byte) { w.Buf = append(w.Buf, bracket) }

// Key begins a member.
func (w *Writer) Key(name string) {
	w.comma()
	w.Buf = append(jsonx.AppendString(w.Buf, name), ':')
}

// Object writes a member that is an object.
func (w *Writer) Object(name string, members func()) {
	w.Key(name)
	w.Open('{')
	members()
	w.Close('}')
}

// Array writes a member that is an array.
func (w *Writer) Array(name string, elements func()) {
	w.Key(name)
	w.Open('[')
	elements()
	w.Close(']')
}

// Element writes an element that is an object.
func (w *Writer) Element(members func()) {
	w.Open('{')
	members()
	w.Close('}')
}

// Text writes a member that is a string.
func (w *Writer) Text(name, value string) {
	w.Key(name)
	w.Buf = jsonx.AppendString(w.Buf, value)
}

// String writes an element that is a string.
func (w *Writer) String(value string) {
	w.comma()
	w.Buf = jsonx.AppendString(w.Buf, value)
}

// Int writes a member that is an integer.
func (w *Writer) Int(name string, value int64) {
	w.Key(name)
	w.Buf = strconv.AppendInt(w.Buf, value, 10)
}

// Bool writes a member that is true or false.
func (w *Writer) Bool(name string, value bool) {
	w.Key(name)
	w.Buf = strconv.AppendBool(w.Buf, value)
}

// Float writes a member in DynamoDB's form, with a point in every number.
func (w *Writer) Float(name string, value float64) {
	w.Key(name)
	if whole := math.Trunc(value); value == whole && math.Abs(value) < 1<<53 {
		w.Buf = append(strconv.AppendInt(w.Buf, int64(whole), 10), '.', '0')
		return
	}
	w.Buf = strconv.AppendFloat(w.Buf, value, 'f', -1, 64)
}

// Time writes a member in seconds since 1970, to the millisecond.
func (w *Writer) Time(name string, t time.Time) {
	w.Key(name)
	w.Buf = strconv.AppendFloat(w.Buf, float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// Item writes a member that is an item.
func (w *Writer) Item(name string, m attr.Map) {
	w.Key(name)
	w.Buf = m.AppendJSON(w.Buf)
}

// ItemElement writes an element that is an item.
func (w *Writer) ItemElement(m attr.Map) {
	w.comma()
	w.Buf = m.AppendJSON(w.Buf)
}
