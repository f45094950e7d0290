package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// serverName is the value of the header Server.
var serverName = []string{"dynamotest"}

// The types of bodies that requests may have. A reply has the type of its
// request.
const amzJSON = "application/x-amz-json-1.0"

var plainJSON = []string{"application/json"}

// Handler answers HTTP requests.
func Handler(eng *engine.Engine) http.Handler {
	var unread held
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header["Server"] = serverName
		allow(header, r)
		room := rooms.Get().(*room)
		defer rooms.Put(room)
		reply, ok := serve(eng, w, r, room)
		if !ok {
			return
		}

		reply.encode(r.Header.Get("Accept-Encoding"))
		size := unread.hold(&reply)
		defer unread.release(size)
		reply.writeHeader(header, r.Header)

		if bodyType(r) == plainJSON[0] {
			header["Content-Type"] = plainJSON
		}

		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body) // the client has gone, so the error is dropped
		keep(&room.reply, reply.Body)
	})
}

// A room has the memory for the bodies of one request after the other. Nothing
// refers to the body of a request after the answer, or to that of a reply after
// it was sent.
type room struct{ request, reply []byte }

var rooms = sync.Pool{New: func() any { return new(room) }}

// keep keeps the memory of a body, unless it is empty or too large.
func keep(room *[]byte, body []byte) {
	if size := cap(body); size > 0 && size <= trusted {
		*room = body
	}
}

func bodyType(r *http.Request) string {
	kind := r.Header.Get("Content-Type")
	if kind == amzJSON {
		return kind
	}
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// maxHeader is the most bytes of a request's address and header.
const maxHeader = 16 << 10

// headerSize returns how many bytes the address and the header of a request have.
func headerSize(r *http.Request) int {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return size
}

// The errors of requests that are not requests to DynamoDB.
var (
	errNoOperation = &api.Error{
		Code:    api.UnknownOperation,
		Message: "a request is a POST with an operation in X-Amz-Target, such as " + prefix + "GetItem",
	}
	errBodyType = &api.Error{Code: api.UnknownOperation, Message: "a request's Content-Type is " + amzJSON}
	errTooLarge = &api.Error{Code: api.RequestTooLarge, Message: "Request body is too large"}
)

// hopeless is the largest declared length of a body that is still read, up to its
// limit, although it is too long. So a client that sends the whole body before it
// reads the answer sees why it is refused.
const hopeless = 4 * MaxBody

// serve answers a request, in the memory of a buffer. It returns false if the
// answer is written already.
func serve(eng *engine.Engine, w http.ResponseWriter, r *http.Request, room *room) (Reply, bool) {
	switch {
	case headerSize(r) > maxHeader:
		http.Error(w, "The header is over 16 KB", http.StatusBadRequest)
		return Reply{}, false
	case r.Method == http.MethodGet && r.URL.Path == "/":
		// DynamoDB's answer to a browser and to a health check.
		_, _ = io.WriteString(w, "healthy: dynamotest")
		return Reply{}, false
	case r.Method == http.MethodOptions:
		return Reply{}, false // allow has written the whole answer
	case r.Method != http.MethodPost:
		return notFound(errNoOperation), true
	}

	target := r.Header.Get("X-Amz-Target")
	if !strings.Contains(target, ".") {
		return failure(errNoOperation, nil), true
	}
	if kind := bodyType(r); kind != "" && kind != amzJSON && kind != plainJSON[0] {
		return notFound(errBodyType), true
	}
	if r.ContentLength > hopeless {
		return failure(errTooLarge, nil), true
	}

	if r.ContentLength < 0 || r.ContentLength > MaxBody {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	}

	body, err := readBody(r, room.request)
	if err != nil {
		return unreadable(err), true
	}

	keep(&room.request, body)
	return perform(r, eng, target, body, room.reply), true
}

func unreadable(err error) Reply {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return failure(errTooLarge, nil)
	}
	return failure(&api.Error{Code: api.SerializationException, Message: "The request body could not be read"}, nil)
}

// perform decodes the body of a request, and executes it.
func perform(r *http.Request, eng *engine.Engine, target string, body, buffer []byte) Reply {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		var err error
		if body, err = decoded(body, encoding); err != nil {
			// DynamoDB does not call it the client's fault.
			return failure(&api.Error{Code: api.InternalServerError, Message: "The request body could not be decoded: " + err.Error()}, nil)
		}
	}
	return do(r.Context(), eng, target, body, buffer)
}

// notFound returns the reply to a request that is not one to DynamoDB at all.
func notFound(err *api.Error) Reply {
	reply := failure(err, nil)
	reply.Status = http.StatusNotFound
	return reply
}
