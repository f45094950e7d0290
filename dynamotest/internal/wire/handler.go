package wire

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Handler answers HTTP requests.
func Handler(eng *engine.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply, ok := serve(eng, w, r)
		if !ok {
			return
		}
		header := w.Header()
		for name, values := range reply.Header {
			header[name] = values
		}
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body) // the client has gone; there is nobody to tell
	})
}

var errNoOperation = &api.Error{
	Code:    api.UnknownOperation,
	Message: "a request is a POST with an operation in X-Amz-Target, such as " + prefix + "GetItem",
}

// serve answers a request, unless there is nobody to answer.
func serve(eng *engine.Engine, w http.ResponseWriter, r *http.Request) (Reply, bool) {
	if r.Method == http.MethodGet && r.URL.Path == "/" {
		// What DynamoDB says to a browser and to a health check.
		_, _ = io.WriteString(w, "healthy: dynamotest")
		return Reply{}, false
	}
	target := r.Header.Get("X-Amz-Target")
	if r.Method != http.MethodPost || !strings.Contains(target, ".") {
		return failure(errNoOperation, nil), true
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	body, err := readBody(r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return failure(&api.Error{Code: api.RequestTooLarge, Message: "Request body is too large"}, nil), true
	case err != nil:
		return failure(&api.Error{Code: api.SerializationException, Message: "The request body could not be read"}, nil), true
	}
	return Do(r.Context(), eng, target, body), true
}

// requestID returns 52 characters that tell one request from another.
func requestID() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	var id [52]byte
	_, _ = rand.Read(id[:]) // it never fails
	for i, b := range id {
		id[i] = alphabet[b%byte(len(alphabet))]
	}
	return string(id[:])
}
