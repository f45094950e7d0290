package dynamotest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// keyAttributes returns attributes of a key in the server's own form.
func keyAttributes(key map[string]types.AttributeValue) (attr.Map, error) {
	var fields []attr.Field
	for name, value := range key {
		var v attr.Value
		var err error
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			v = attr.String(value.Value)
		case *types.AttributeValueMemberB:
			v = attr.Bytes(string(value.Value))
		case *types.AttributeValueMemberN:
			v, err = attr.Number(value.Value)
		default:
			err = fmt.Errorf("key attribute %q is a %T, and no key", name, value)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	return attr.NewMap(fields...), nil
}

// What Conflict and Unprocessed can concern.
var (
	conflicts = []string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "TransactGetItems"}
	batches   = []string{"BatchGetItem", "BatchWriteItem"}
)

// inCall tells whether the fault concerns a call, and which of its targets.
func (f *fault) inCall(call *engine.Call) (hit []bool, ok bool) {
	switch {
	case f.Op != "" && f.Op != call.Operation,
		f.Do == Conflict && !slices.Contains(conflicts, call.Operation),
		f.Do == Unprocessed && !slices.Contains(batches, call.Operation):
		return nil, false
	}
	hit = make([]bool, len(call.Targets))
	ok = f.Table == "" && f.key == nil
	for i, target := range call.Targets {
		hit[i] = (f.Table == "" || f.Table == target.Table) && contains(target.Key, f.key)
		ok = ok || hit[i]
	}
	return hit, ok
}

// contains tells whether a key has all attributes of another.
func contains(key, part attr.Map) bool {
	for _, want := range part {
		if v, ok := key.Get(want.Name); !ok || !v.Equal(want.Value) {
			return false
		}
	}
	return true
}

// inBody tells whether the fault concerns a request on its way.
func (f *fault) inBody(op string, body []byte) bool {
	if f.Op != "" && f.Op != op || f.Table != "" && !names(body, f.Table) {
		return false
	}
	if f.key == nil {
		return true
	}
	var request any
	return json.Unmarshal(body, &request) == nil && hasKey(request, f.key)
}

// names reports whether the request names the table, as a value or, in a
// batch, as a key.
func names(body []byte, table string) bool {
	return bytes.Contains(body, []byte(`"`+table+`"`))
}

// hasKey looks for an item or a key with the attributes, in whatever member of
// the request it stands.
func hasKey(request any, key attr.Map) bool {
	switch request := request.(type) {
	case []any:
		return slices.ContainsFunc(request, func(v any) bool { return hasKey(v, key) })
	case map[string]any:
		if !slices.ContainsFunc(key, func(want attr.Field) bool { return !hasValue(request[want.Name], want.Value) }) {
			return true
		}
		for name, member := range request {
			if name != "M" && name != "L" && hasKey(member, key) { // not inside documents
				return true
			}
		}
	}
	return false
}

// hasValue compares a value as it stands in JSON.
func hasValue(member any, want attr.Value) bool {
	value, _ := member.(map[string]any)
	text, ok := value[want.Kind().String()].(string)
	if !ok {
		return false
	}
	switch want.Kind() {
	case attr.N:
		v, err := attr.Number(text)
		return err == nil && v.Str() == want.Str()
	case attr.B:
		b, err := base64.StdEncoding.DecodeString(text)
		return err == nil && string(b) == want.Str()
	}
	return text == want.Str()
}

// readBody reads the request's body and puts it back.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return body, nil
}

// connectionReset is what a lost connection looks like to net/http, and what
// the SDK sends again for.
func connectionReset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
