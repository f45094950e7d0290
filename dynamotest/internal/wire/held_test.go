package wire

import (
	"net/http"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// Long replies that nobody reads have at most maxHeld bytes; short ones do not
// count.
func TestHeldReplies(t *testing.T) {
	t.Parallel()
	var h held
	short := Reply{Status: http.StatusOK, Body: make([]byte, 0, trusted)}
	most := Reply{Status: http.StatusOK, Body: make([]byte, 0, maxHeld)}
	size := h.hold(&most)
	if most.Status != http.StatusOK || size != maxHeld {
		t.Errorf("%d bytes are counted as %d, and the status is %d", maxHeld, size, most.Status)
	}
	if size := h.hold(&short); size != 0 || short.Status != http.StatusOK {
		t.Errorf("a short reply is counted as %d, and its status is %d", size, short.Status)
	}
	long := Reply{Status: http.StatusOK, Body: make([]byte, 0, trusted+1)}
	if size := h.hold(&long); size != 0 || long.Status != http.StatusServiceUnavailable {
		t.Errorf("a reply too many is counted as %d, and its status is %d", size, long.Status)
	}
	h.release(size)
	if held := h.bytes.Load(); held != 0 {
		t.Errorf("%d bytes are left", held)
	}
}

// A client tries again after a 503, so a write that has taken effect never gets one.
// Its reply counts, as do those of refused writes and of reads, which get one.
func TestHeldRepliesOfWrites(t *testing.T) {
	t.Parallel()
	const left = maxHeld
	wrote := capacity.Cost{{Table: "read"}, {Table: "written", Base: capacity.Units{Write: 1}}}
	indexed := capacity.Cost{{Table: "written", Indexes: []capacity.IndexUnits{{Units: capacity.Units{Write: 1}}}}}
	for name, tt := range map[string]struct {
		reply Reply
		want  int
	}{
		"a write":         {Reply{Status: http.StatusOK, Cost: wrote}, http.StatusOK},
		"of an index":     {Reply{Status: http.StatusOK, Cost: indexed}, http.StatusOK},
		"a refused write": {Reply{Status: http.StatusBadRequest, Cost: wrote}, http.StatusServiceUnavailable},
		"a read":          {Reply{Status: http.StatusOK, Cost: capacity.Cost{{Base: capacity.Units{Read: 1}}}}, http.StatusServiceUnavailable},
	} {
		var h held
		h.bytes.Store(left)
		tt.reply.Body = make([]byte, trusted+1)
		size := h.hold(&tt.reply)
		if tt.reply.Status != tt.want {
			t.Errorf("%s: %d, want %d", name, tt.reply.Status, tt.want)
		}
		if h.release(size); h.bytes.Load() != left {
			t.Errorf("%s: %d bytes more are counted than were released", name, h.bytes.Load()-left)
		}
	}
}
