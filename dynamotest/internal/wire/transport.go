package wire

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Transport is an http.RoundTripper to an engine instead of the network. It
// answers on the caller's goroutine, so it works inside a synctest bubble.
type Transport struct{ Engine *engine.Engine }

// RoundTrip performs the request. If the context is done already, it returns an
// error and the request has no effect. If the context ends meanwhile, it also
// returns an error, and the request may have taken effect, as on a socket.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r, nil)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	reply := perform(r, t.Engine, r.Header.Get("X-Amz-Target"), body, nil)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return reply.response(r), nil
}

// trusted is the most memory that a request gets for its declared length.
const trusted = 64 << 10

// readBody reads a body into the memory of a buffer, if that is large enough.
func readBody(r *http.Request, buffer []byte) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := readAll(r.Body, r.ContentLength, buffer)
	if closing := r.Body.Close(); err == nil {
		err = closing
	}
	return body, err
}

// readAll reads a body with its declared length, or -1 without one.
func readAll(from io.Reader, length int64, buffer []byte) ([]byte, error) {
	if 0 < length && length <= trusted {
		if int64(cap(buffer)) < length {
			buffer = make([]byte, length)
		}
		body := buffer[:length]
		_, err := io.ReadFull(from, body)
		return body, err
	}
	var buf bytes.Buffer
	buf.Grow(int(max(0, min(length, trusted))) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(from, MaxBody+1))
	return buf.Bytes(), err
}

// response returns the reply as the response to a request.
func (r *Reply) response(to *http.Request) *http.Response {
	header := make(http.Header, 5)
	r.writeHeader(header, to.Header)
	return &http.Response{
		Status:        strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		StatusCode:    r.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(r.Body)),
		ContentLength: int64(len(r.Body)),
		Request:       to,
	}
}
