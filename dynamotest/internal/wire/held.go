package wire

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// maxHeld is the most bytes of long replies that wait for clients to read them.
// Without a limit, clients that do not read their replies would fill the memory.
const maxHeld = 256 << 20

var errHeld = &api.Error{Code: api.ServiceUnavailable, Message: "Too many long replies wait for their clients to read them"}

// held counts the bytes of the long replies that wait for clients to read them.
type held struct{ bytes atomic.Int64 }

// hold counts a reply if it is long, and returns its size for release. A reply
// beyond the limit becomes an error after which clients try again. The reply of a
// write never does, because the write would take effect twice.
func (h *held) hold(reply *Reply) (size int64) {
	if size = int64(cap(reply.Body)); size <= trusted {
		return 0
	}
	if h.bytes.Add(size) > maxHeld && !reply.wrote() {
		h.release(size)
		*reply = failure(errHeld, reply.Cost)
		return 0
	}
	return size
}

func (h *held) release(size int64) { h.bytes.Add(-size) }

// wrote reports whether the request has written something.
func (r *Reply) wrote() bool {
	return r.Status == http.StatusOK && slices.ContainsFunc(r.Cost, func(c capacity.Consumed) bool { return c.Sum().Write > 0 })
}
