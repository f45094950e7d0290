package intake

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// These are the most bytes of a body. 100 events of HubSpot with the longest values
// are 6.5 MB; an event of Aloware is some KB, or more with a transcript.
const (
	HubSpotBody = 8 << 20
	AlowareBody = 1 << 20
)

// Bodies is the default of a Handler's Bodies.
const Bodies = 64 << 20

func (h *Handler) bodies() int64 { return int64(or(h.Bodies, Bodies)) }

// load is what the requests of a source hold.
type load struct{ requests, bytes atomic.Int64 }

// errBodies says that other bodies have all the bytes.
var errBodies = errors.New("the bodies of other requests have all the room")

// body is a body whose bytes count in the load until free is called.
type body struct {
	io.Reader
	load       *load
	size, most int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.size += int64(n)
	if b.load.bytes.Add(int64(n)) > b.most {
		return n, errBodies
	}
	return n, err
}

func (b *body) free() { b.load.bytes.Add(-b.size) }

// limit makes the request's body end with an error where the source's limits are.
// What is returned frees its bytes.
func (h *Handler) limit(w http.ResponseWriter, r *http.Request, source string) (free func()) {
	held, most := &h.aloware, int64(AlowareBody)
	if source == fact.HubSpot {
		held, most = &h.hubspot, HubSpotBody
	}
	limited := http.MaxBytesReader(w, r.Body, most)
	counted := &body{Reader: limited, load: held, most: h.bodies()}
	r.Body = struct {
		io.Reader
		io.Closer
	}{counted, limited}
	return counted.free
}
