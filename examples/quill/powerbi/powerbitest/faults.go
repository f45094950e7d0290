package powerbitest

import "net/http"

// Fault is a way in which a request goes wrong.
type Fault int

// These are the faults.
const (
	LoseRequest      Fault = iota + 1 // the connection breaks before the request has an effect
	LoseReply                         // the connection breaks afterwards
	Unavailable                       // 503, without an effect
	UnavailableAfter                  // 503, although the request had its effect
)

// OnPost gives the n-th post of rows, counted from 1, this fault. Only posts with a
// valid token count, see Counts.
func (s *Server) OnPost(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onPost[n] = f
}

// OnAsk gives the n-th question this fault.
func (s *Server) OnAsk(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAsk[n] = f
}

// Unauthorized answers the next n requests with 401, except logins.
func (s *Server) Unauthorized(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unauthorized = n
}

// RefuseAsking makes the server answer questions with 403 from now on, or stop
// doing so.
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

// before performs the faults that keep a request from its effect, and reports
// whether the request goes on.
func (f Fault) before(w http.ResponseWriter) bool {
	switch f {
	case LoseRequest:
		panic(http.ErrAbortHandler) // net/http breaks the connection silently
	case Unavailable:
		fail(w, http.StatusServiceUnavailable, "ServiceUnavailable", "try later")
		return false
	}
	return true
}

// after performs the faults that hide the effect.
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
