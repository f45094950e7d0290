package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// names returns the value of a name in a fact. kind is "", "new:" or "kept:".
type names func(kind, name string) (value any, ok bool)

var named = regexp.MustCompile(`\$(new:|kept:)?([A-Za-z_][A-Za-z0-9_]*)`)

// fill returns the JSON text with its names and its short forms replaced. The
// members of objects keep their order, because it may decide which of two errors
// is reported.
func fill(text []byte, of names) ([]byte, error) {
	var out bytes.Buffer
	err := fillTo(&out, text, of)
	return out.Bytes(), err
}

func fillTo(out *bytes.Buffer, text []byte, of names) error {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return fmt.Errorf("no JSON")
	case text[0] == '{':
		return fillObject(out, text, of)
	case text[0] == '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil {
			return err
		}
		return list(out, '[', ']', elements, func(e json.RawMessage) error { return fillTo(out, e, of) })
	case text[0] == '"' && bytes.IndexByte(text, '$') >= 0:
		value, err := fillString(text, of)
		if err != nil {
			return err
		}
		return write(out, value)
	}

	out.Write(text)
	return nil
}

func fillString(text []byte, of names) (any, error) {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}

	if m := named.FindStringSubmatch(s); m != nil && m[0] == s {
		if value, ok := of(m[1], m[2]); ok {
			return value, nil
		}
	}
	return named.ReplaceAllStringFunc(s, func(whole string) string {
		m := named.FindStringSubmatch(whole)
		if value, ok := of(m[1], m[2]); ok {
			return fmt.Sprint(value)
		}
		return whole
	}), nil
}

type member struct {
	name  string
	value json.RawMessage
}

func members(text []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil { // the brace
		return nil, err
	}

	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // JSON's grammar says so
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}

	return all, nil
}

func fillObject(out *bytes.Buffer, text []byte, of names) error {
	all, err := members(text)
	if err != nil {
		return err
	}
	if len(all) == 1 && all[0].name == "$repeat" {
		return repeat(out, all[0].value)
	}
	if len(all) == 1 && all[0].name == "$nest" {
		return nest(out, all[0].value, of)
	}

	return list(out, '{', '}', all, func(m member) error {
		name, _ := json.Marshal(m.name) // a string is always valid
		if err := fillTo(out, name, of); err != nil {
			return err
		}
		out.WriteByte(':')
		return fillTo(out, m.value, of)
	})
}

func list[E any](out *bytes.Buffer, open, end byte, elements []E, each func(E) error) error {
	out.WriteByte(open)
	for i, e := range elements {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := each(e); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}

// repeat writes the text of ["x", 3], or of ["x", 3, "y"], which has an end.
func repeat(out *bytes.Buffer, args []byte) error {
	var text, end string
	var times int
	if err := json.Unmarshal(args, &[]any{&text, &times, &end}); err != nil {
		return fmt.Errorf("$repeat: %w", err)
	}
	return write(out, strings.Repeat(text, times)+end)
}

// nest writes the attribute value of [3, {"S": "x"}].
func nest(out *bytes.Buffer, args []byte, of names) error {
	var depth int
	var inner json.RawMessage
	if err := json.Unmarshal(args, &[]any{&depth, &inner}); err != nil {
		return fmt.Errorf("$nest: %w", err)
	}
	out.WriteString(strings.Repeat(`{"L":[`, depth))
	if err := fillTo(out, inner, of); err != nil {
		return err
	}
	out.WriteString(strings.Repeat(`]}`, depth))
	return nil
}

// write does not escape <, > and &, because statements have them.
func write(out *bytes.Buffer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	out.Truncate(out.Len() - 1) // the newline
	return err
}
