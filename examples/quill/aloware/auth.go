package aloware

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Auth says who may send. Aloware signs nothing: it sends the credentials that
// were entered there. A user with a password may be set, a token, or both; then
// either is enough. The zero Auth accepts nothing.
type Auth struct {
	User, Password string // Basic
	Token          string // Bearer
}

// Check reports whether the request has the configured credentials, in one
// Authorization header. How long it takes discloses nothing about them.
func (a Auth) Check(r *http.Request) bool {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	switch strings.ToLower(scheme) {
	case "basic":
		user, password, ok := r.BasicAuth()
		return ok && (a.User != "" || a.Password != "") && same(user, a.User)&same(password, a.Password) == 1
	case "bearer":
		return a.Token != "" && same(token, a.Token) == 1
	}
	return false
}

// same compares hashes. They have one length, so that the time does not disclose
// the length of the expected text.
func same(got, want string) int {
	g, w := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:])
}
