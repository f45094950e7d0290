package attr

import (
	"encoding/base64"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// AppendJSON appends the wire format of v.
func (v Value) AppendJSON(dst []byte) []byte {
	if !v.Valid() {
		return append(dst, "{}"...)
	}

	dst = append(dst, '{', '"')
	dst = append(dst, v.Kind().String()...)
	dst = append(dst, '"', ':')
	switch v.Kind() {
	case S, N, B:
		dst = appendScalar(dst, v.Kind(), v.text)
	case BOOL:
		if v.held.yes {
			dst = append(dst, "true"...)
		} else {
			dst = append(dst, "false"...)
		}
	case NULL:
		dst = append(dst, "true"...)
	case L:
		dst = appendList(dst, v.held.list)
	case M:
		dst = v.held.m.AppendJSON(dst)
	default:
		dst = appendSet(dst, v.Kind(), v.held.set)
	}

	return append(dst, '}')
}

// AppendJSON appends the wire format of an item.
func (m Map) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, f := range m {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonx.AppendString(dst, f.Name)
		dst = append(dst, ':')
		dst = f.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

func appendScalar(dst []byte, kind Kind, text string) []byte {
	switch kind {
	case S:
		return jsonx.AppendString(dst, text)
	case B:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(text))
		return append(dst, '"')
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

func appendList(dst []byte, list []Value) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.AppendJSON(dst)
	}
	return append(dst, ']')
}

func appendSet(dst []byte, kind Kind, set []string) []byte {
	dst = append(dst, '[')
	for i, elem := range set {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendScalar(dst, kind.Element(), elem)
	}
	return append(dst, ']')
}
