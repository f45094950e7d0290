package wire

import (
	"sync/atomic"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// maxHeld is how many bytes of long replies wait for clients to read them, at most.
// Without a limit, clients that ask and do not read fill the memory.
const maxHeld = 256 << 20

var errHeld = &api.Error{Code: api.ServiceUnavailable, Message: "Too many long replies wait for their clients to read them"}

// held counts the bytes of the long replies that wait for clients to read them.
type held struct{ bytes atomic.Int64 }

// hold counts a reply if it is long, and returns its size for release. A reply that
// is too much becomes an error, after which clients try again.
func (h *held) hold(reply *Reply) (size int64) {
	if size = int64(cap(reply.Body)); size <= trusted {
		return 0
	}
	if h.bytes.Add(size) > maxHeld {
		h.release(size)
		*reply = failure(errHeld, reply.Cost)
		return 0
	}
	return size
}

func (h *held) release(size int64) { h.bytes.Add(-size) }
