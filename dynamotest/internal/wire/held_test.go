package wire

import (
	"net/http"
	"testing"
)

// Long replies that nobody reads are at most maxHeld; short ones do not count.
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
