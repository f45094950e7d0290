package powerbitest

import "net/http"

// Fault is what goes wrong with a request.
type Fault int

// The faults.
const (
	LoseRequest      Fault = iota + 1 // the connection breaks before it has an effect
	LoseReply                         // it breaks afterwards
	Unavailable                       // 503, without an effect
	UnavailableAfter                  // 503 all the same: it had its effect
)

// OnPost makes the n-th post of rows, from 1, fare so. Posts are counted when their
// token is valid, see Counts.
func (s *Server) OnPost(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onPost[n] = f
}

// OnAsk makes the n-th question fare so.
func (s *Server) OnAsk(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAsk[n] = f
}

// Unauthorized answers the next n requests but logins with 401.
func (s *Server) Unauthorized(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unauthorized = n
}

// RefuseAsking answers questions with 403 from now on, or no longer.
func (s *Server) RefuseAsking(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noAsking = refuse
}

// RefuseCreate answers requests for a new dataset with the code, such as
// FeatureDeprecatedError, from now on.
func (s *Server) RefuseCreate(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.createCode = code
}

// before plays the faults that keep a request from its effect, and reports whether it
// goes on.
func (f Fault) before(w http.ResponseWriter) bool {
	switch f {
	case LoseRequest:
		panic(http.ErrAbortHandler) // net/http breaks the connection without a word
	case Unavailable:
		fail(w, http.StatusServiceUnavailable, "ServiceUnavailable", "try later")
		return false
	}
	return true
}

// after plays the faults that hide the effect.
func (f Fault) after(w http.ResponseWriter) bool {
	switch f {
	case LoseReply:
		panic(http.ErrAbortHandler)
	case UnavailableAfter:
		fail(w, http.StatusServiceUnavailable, "ServiceUnavailable", "try later")
		return false
	}
	return true
}
