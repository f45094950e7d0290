package powerbitest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const scope = "https://analysis.windows.net/powerbi/api/.default"

// login issues tokens to the application.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.counts.Logins++
	number := s.counts.Logins
	s.mu.Unlock()
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	if err := r.ParseForm(); err != nil {
		s.refuseLogin(w, http.StatusBadRequest, "invalid_request", "the body is not a form")
		return
	}
	form := r.PostForm
	switch {
	case r.PathValue("tenant") != Tenant:
		s.refuseLogin(w, http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant not found.")
	case form.Get("grant_type") != "client_credentials":
		s.refuseLogin(w, http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003")
	case form.Get("scope") != scope:
		s.refuseLogin(w, http.StatusBadRequest, "invalid_scope", "AADSTS70011")
	case form.Get("client_id") != ID:
		s.refuseLogin(w, http.StatusBadRequest, "unauthorized_client", "AADSTS700016: Application not found.")
	case form.Get("client_secret") != Secret:
		s.refuseLogin(w, http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided: "+form.Get("client_secret"))
	default:
		text := fmt.Sprintf("token-%d", number)
		s.mu.Lock()
		s.tokens[text] = s.cfg.Now().Add(s.cfg.TokenLife)
		s.mu.Unlock()
		reply(w, http.StatusOK, map[string]any{
			"token_type": "Bearer", "expires_in": int64(s.cfg.TokenLife / time.Second), "access_token": text,
		})
	}
}

// refuseLogin answers in the login's own form. It repeats the secret, which no
// server should do, to test that a client does not pass it on.
func (s *Server) refuseLogin(w http.ResponseWriter, status int, code, description string) {
	s.mu.Lock()
	s.violations = append(s.violations, fmt.Sprintf("%d login: %s", status, code))
	s.mu.Unlock()
	reply(w, status, map[string]string{"error": code, "error_description": description})
}

// authorized lets requests with a valid token through.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		until, issued := s.tokens[text]
		expired := !s.cfg.Now().Before(until)
		told := s.unauthorized > 0
		if told {
			s.unauthorized--
		}
		s.mu.Unlock()
		switch {
		case !bearer || !issued:
			s.refuse(w, http.StatusUnauthorized, "TokenInvalid", "this token was not issued")
		case expired || told:
			fail(w, http.StatusUnauthorized, "TokenExpired", "Access token has expired, resubmit with a new access token: "+text)
		default:
			next(w, r)
		}
	}
}
