package dynamotest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
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
			err = fmt.Errorf("a %T cannot be part of a key: only S, N and B can", value)
		}

		if err != nil {
			return nil, fmt.Errorf("key attribute %q: %w", name, err)
		}

		fields = append(fields, attr.Field{Name: name, Value: v})
	}

	return attr.NewMap(fields...), nil
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

// connectionReset is the error of net/http for a lost connection. The SDK
// retries after it.
func connectionReset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
