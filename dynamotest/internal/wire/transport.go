package wire

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Transport is an http.RoundTripper that asks an engine instead of the network.
// It answers on the caller's goroutine, so it works inside a synctest bubble.
type Transport struct{ Engine *engine.Engine }

// RoundTrip performs the request. A context that is done is an error before the
// request takes effect; one that ends meanwhile is an error too, as on a
// socket: the caller has gone and cannot know.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	reply := Do(r.Context(), t.Engine, r.Header.Get("X-Amz-Target"), body)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return reply.Response(r), nil
}

// trusted is how much room a request gets for what it says that it will send.
const trusted = 64 << 10

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	var buf bytes.Buffer
	buf.Grow(int(max(0, min(r.ContentLength, trusted))) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(r.Body, MaxBody+1))
	if closing := r.Body.Close(); err == nil {
		err = closing
	}
	return buf.Bytes(), err
}

// Response returns the reply as the response to a request.
func (r *Reply) Response(to *http.Request) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		StatusCode:    r.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        r.Header,
		Body:          io.NopCloser(bytes.NewReader(r.Body)),
		ContentLength: int64(len(r.Body)),
		Request:       to,
	}
}
