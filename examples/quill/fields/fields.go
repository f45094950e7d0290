// Package fields reads JSON that others wrote, field by field. It reads each field
// by its exact name, with the type that it must have, and never reads two different
// texts as one. It ignores all other fields.
package fields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
)

// Longer texts are refused, so that a fact always fits DynamoDB's 400 KB. HubSpot's
// longest text has 65,536 characters.
const (
	maxText = 2 << 10
	maxLong = 192 << 10
)

// Object is a JSON object. Its methods note the first field that is wrong, and Err
// returns it. What a method returns for a wrong field is as if it were absent. A
// field that is null counts as absent, and so does a text or a number that is "".
type Object struct {
	pkg, path string
	fields    map[string]json.RawMessage
	err       *error
	leftOut   *[]string // not nil: what is wrong is left out
}

// Open reads an object. Path is its place in the request, for errors, "" for the
// whole body.
func Open(pkg, path string, raw []byte) *Object {
	o := &Object{pkg: pkg, path: path, err: new(error)}
	if err := check(pkg, o.at(""), raw); err != nil {
		*o.err = err
		return o
	}
	o.read(raw)
	return o
}

// Array returns the elements of a body that is an array.
func Array(pkg string, body []byte) ([]json.RawMessage, error) {
	if err := check(pkg, "body", body); err != nil {
		return nil, err
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(body, &elements); err != nil || elements == nil {
		return nil, event.BadInput(pkg, "body", "must be an array")
	}
	return elements, nil
}

// check refuses text that is not one JSON value. It also refuses invalid UTF-8,
// because encoding/json would replace it, and two keys would become one.
func check(pkg, field string, raw []byte) error {
	switch {
	case !utf8.Valid(raw):
		return event.BadInput(pkg, field, "must be valid UTF-8")
	case !json.Valid(raw):
		return event.BadInput(pkg, field, "must be one JSON value, with nothing after it")
	}
	return nil
}

// read refuses a name that appears twice, because another reader may use the
// other value.
func (o *Object) read(raw []byte) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		o.Refuse("", "must be an object")
		return
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		name, _ := token.(string)
		if _, twice := all[name]; twice || err != nil {
			o.Refuse("", fmt.Sprintf("must have each field only once, repeats %.40q", name))
			return
		}
		all[name] = value
	}
	o.fields = all
}

// Err returns why the object is refused, an *event.InputError, or nil.
func (o *Object) Err() error { return *o.err }

// Optional returns the same object for fields that may be left out: LeftOut names the
// wrong ones, and Err does not.
func (o *Object) Optional() *Object {
	optional := *o
	optional.leftOut = new([]string)
	return &optional
}

// LeftOut returns the places of the fields that an Optional object, or an object in
// it, has left out.
func (o *Object) LeftOut() []string { return *o.leftOut }

// Refuse notes that a field is wrong. "" is the object itself. The reason
// continues the sentence after the field's name.
func (o *Object) Refuse(name, reason string) {
	if o.leftOut != nil {
		*o.leftOut = append(*o.leftOut, o.at(name))
		return
	}
	if *o.err == nil {
		*o.err = event.BadInput(o.pkg, o.at(name), reason)
	}
}

func (o *Object) at(name string) string {
	switch {
	case o.path == "" && name == "":
		return "body"
	case o.path == "" || name == "":
		return o.path + name
	}
	return o.path + "." + name
}

// Named reports whether the field exists, null or not.
func (o *Object) Named(name string) bool { return o.fields[name] != nil }

// Has reports whether the field exists and is not null.
func (o *Object) Has(name string) bool {
	return o.Named(name) && string(o.fields[name]) != "null"
}

// Object returns an object in a field.
func (o *Object) Object(name string) *Object {
	inner := &Object{pkg: o.pkg, path: o.at(name), err: o.err, leftOut: o.leftOut}
	if raw := o.fields[name]; raw != nil {
		inner.read(raw)
	} else {
		o.Refuse(name, "must be an object")
	}
	return inner
}

// Text returns a text of at most 2 KB, "" if it is absent.
func (o *Object) Text(name string) string {
	if o.Has(name) && o.fields[name][0] != '"' {
		o.Refuse(name, "must be a text")
		return ""
	}
	return o.scalar(name, maxText)
}

// Value returns a text of at most 192 KB, or a number or a boolean as it is
// written, "" if it is absent.
func (o *Object) Value(name string) string { return o.scalar(name, maxLong) }

func (o *Object) scalar(name string, most int) string {
	if !o.Has(name) {
		return ""
	}
	raw := o.fields[name]
	text := string(raw)
	switch raw[0] {
	case '{', '[':
		o.Refuse(name, "must be a text")
		return ""
	case '"':
		_ = json.Unmarshal(raw, &text) // check has accepted it
	}
	if len(text) > most {
		o.Refuse(name, fmt.Sprintf("must have at most %d bytes", most))
		return ""
	}
	return text
}

// Name returns a text for a key, "" if it is absent. A text with U+FFFD is refused:
// encoding/json replaces half a surrogate pair with that character, so that two
// texts would become one.
func (o *Object) Name(name string) string { return o.whole(name, o.Text(name)) }

// Word returns a text, a number or a boolean for a key, as Name does.
func (o *Object) Word(name string) string { return o.whole(name, o.scalar(name, maxText)) }

func (o *Object) whole(name, text string) string {
	if strings.ContainsRune(text, utf8.RuneError) {
		o.Refuse(name, "must not have U+FFFD, which stands for characters that were lost")
		return ""
	}
	return text
}

// MustName returns a Name that must not be absent.
func (o *Object) MustName(name string) string {
	text := o.Name(name)
	if text == "" {
		o.Refuse(name, "must be a text that is not empty")
	}
	return text
}

// Digits returns the digits of a whole number of at most 64 bits, which may be a
// JSON number or a text; "" if it is absent. The number never becomes a float,
// which would round long ids.
func (o *Object) Digits(name string) string {
	if !o.Has(name) {
		return ""
	}
	text := o.scalar(name, maxText)
	if text != "" && !canonical(text) {
		o.Refuse(name, "must be a whole number of up to 64 bits, not negative and with no leading zero")
		return ""
	}
	return text
}

// MustDigits returns Digits that must not be absent.
func (o *Object) MustDigits(name string) string {
	text := o.Digits(name)
	if text == "" {
		o.Refuse(name, "must be a whole number")
	}
	return text
}

// canonical reports whether the text is the shortest form of a uint64.
func canonical(text string) bool {
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// Whole returns a number for a column, which has 63 bits.
func (o *Object) Whole(name string) (json.Number, bool) {
	text := o.Digits(name)
	if text == "" {
		return "", false
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		o.Refuse(name, "must be a whole number of up to 63 bits")
		return "", false
	}
	return json.Number(text), true
}

// AllDigits returns the numbers of an array, each as Digits would. It returns none
// if the array is absent.
func (o *Object) AllDigits(name string) []string {
	if !o.Has(name) {
		return nil
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(o.fields[name], &elements); err != nil {
		o.Refuse(name, "must be an array")
	}
	numbers := make([]string, len(elements))
	for i, raw := range elements {
		element := fmt.Sprintf("%s[%d]", name, i)
		one := &Object{pkg: o.pkg, path: o.path, err: o.err, leftOut: o.leftOut, fields: map[string]json.RawMessage{element: raw}}
		numbers[i] = one.MustDigits(element)
	}
	return numbers
}

// Bool returns a boolean, false if it is absent.
func (o *Object) Bool(name string) bool {
	if !o.Has(name) {
		return false
	}
	raw := string(o.fields[name])
	if raw != "true" && raw != "false" {
		o.Refuse(name, "must be true or false")
	}
	return raw == "true"
}

// Part returns the part of a key for a text that may be absent. It is "-" for "". A
// text that is only dashes gets one dash more, so that nothing else is "-".
func Part(text string) string {
	if strings.Trim(text, "-") == "" {
		return text + "-"
	}
	return text
}
