package facts

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
)

// Over returns a Send by HTTP. sign signs each request, unless it is nil.
func Over(transport http.RoundTripper, endpoint string, sign func(r *http.Request, body []byte) error) Send {
	return func(ctx context.Context, op string, body []byte) (int, []byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
		if err != nil {
			return 0, nil, err
		}

		target := "DynamoDB_20120810." + op
		if name, ok := strings.CutPrefix(op, "Streams:"); ok {
			target = "DynamoDBStreams_20120810." + name
		}

		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		if sign != nil {
			if err := sign(r, body); err != nil {
				return 0, nil, err
			}
		}

		reply, err := transport.RoundTrip(r)
		if err != nil {
			return 0, nil, err
		}

		text, err := io.ReadAll(reply.Body)
		if closing := reply.Body.Close(); err == nil {
			err = closing
		}

		return reply.StatusCode, text, err
	}
}
