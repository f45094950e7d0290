// Package network is the way of a request from a client of the SDK to package
// dynamotest, for tests that decide what becomes of it: dynamotest/explore in every
// order, check/histories at random.
package network

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Request is a request that a client has sent.
type Request struct {
	Op     string // PutItem, …
	Header http.Header
	Body   []byte
}

// Of reads the request of a client.
func Of(r *http.Request) (Request, error) {
	body, err := io.ReadAll(r.Body)
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return Request{op, r.Header.Clone(), body}, err
}

// Arrive lets the request take effect on a server. It may arrive more than once.
func (q Request) Arrive(server http.RoundTripper) (Reply, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://dynamotest.invalid/", bytes.NewReader(q.Body))
	if err != nil {
		return Reply{}, err
	}
	r.Header = maps.Clone(q.Header)
	response, err := server.RoundTrip(r)
	if err != nil {
		return Reply{}, err
	}
	body, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, body}, err
}

// Reply is what a server answers.
type Reply struct {
	Status int
	Body   []byte
}

// ErrLost is what a client gets in place of a reply.
var ErrLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// Response is the reply as the client gets it.
func (a Reply) Response() *http.Response {
	return &http.Response{
		StatusCode: a.Status, Status: http.StatusText(a.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(bytes.NewReader(a.Body)), ContentLength: int64(len(a.Body)),
	}
}

// Refusal is a reply with an error of DynamoDB.
func Refusal(status int, kind string) Reply { return refusal(status, kind, nil) }

// Conflict is the reply to a request that met a transaction. If it is one itself, which
// of its actions did is given.
func Conflict(transaction bool, actions, at int) Reply {
	if !transaction {
		return Refusal(http.StatusBadRequest, "TransactionConflictException")
	}
	reasons := make([]map[string]string, max(actions, 1))
	for i := range reasons {
		reasons[i] = map[string]string{"Code": "None"}
	}
	reasons[at] = map[string]string{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
	return refusal(http.StatusBadRequest, "TransactionCanceledException", reasons)
}

func refusal(status int, kind string, reasons any) Reply {
	said := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + kind, "message": "by the network of a test"}
	if reasons != nil {
		said["CancellationReasons"] = reasons
	}
	body, _ := json.Marshal(said) // of texts
	return Reply{status, body}
}
