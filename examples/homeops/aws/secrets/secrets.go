// Package secrets reads secrets from SSM's Parameter Store. Everybody who may look
// at a process sees its configuration, so that has only their names.
package secrets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// API is the part of *ssm.Client that is called. The process needs
// ssm:GetParameter on the parameter, and kms:Decrypt if a key of your own encrypts
// it.
type API interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Defaults of a Config.
const (
	// MaxAge is how long a value is used without asking again.
	MaxAge = 5 * time.Minute
	// AfterTrouble is how long after a failure the next attempt is.
	AfterTrouble = 30 * time.Second
)

// toRefresh bounds an attempt: a request has a value to go on with, and must
// not wait long for SSM.
const toRefresh = 2 * time.Second

// Config of a Secret. The zero Config works.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Check refuses a value. Its error must not hold the value. Nil accepts
	// all.
	Check func(value string) error
	// Log gets every attempt that failed. Defaults to none.
	Log *slog.Logger
}

// Secret is one parameter. It is safe for concurrent use.
type Secret struct {
	api  API
	name string
	cfg  Config

	mu    sync.Mutex // guards what follows
	value string
	next  time.Time // when SSM is asked again
}

// Open reads the parameter with one request. It fails if the request fails.
func Open(ctx context.Context, api API, name string, cfg Config) (*Secret, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Check == nil {
		cfg.Check = func(string) error { return nil }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Secret{api: api, name: name, cfg: cfg}
	value, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	s.value, s.next = value, cfg.Now().Add(MaxAge)
	return s, nil
}

// Value returns the value as it was at most [MaxAge] ago. When SSM fails, or holds
// what Check refuses, the last good value stays in use: an old secret is better
// than none. If several callers need a new value at once, one asks SSM and the
// others do not wait.
func (s *Secret) Value(ctx context.Context) string {
	value, due := s.look()
	if !due {
		return value
	}
	ctx, cancel := context.WithTimeout(ctx, toRefresh)
	defer cancel()
	fresh, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil { // look has set when to try again
		s.cfg.Log.ErrorContext(ctx, "the last known value stays in use", "parameter", s.name, "error", err)
		return s.value
	}
	s.value, s.next = fresh, s.cfg.Now().Add(MaxAge)
	return s.value
}

// look returns the known value, and whether the caller must ask for a new one.
func (s *Secret) look() (value string, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	if now.Before(s.next) {
		return s.value, false
	}
	s.next = now.Add(AfterTrouble)
	return s.value, true
}

func (s *Secret) read(ctx context.Context) (string, error) {
	out, err := s.api.GetParameter(ctx, &ssm.GetParameterInput{Name: &s.name, WithDecryption: aws.Bool(true)})
	if err != nil {
		return "", fmt.Errorf("secrets: %s: %w", s.name, err)
	}
	if out.Parameter == nil || aws.ToString(out.Parameter.Value) == "" {
		return "", fmt.Errorf("secrets: %s: %w", s.name, errEmpty)
	}
	if err := s.cfg.Check(*out.Parameter.Value); err != nil {
		return "", fmt.Errorf("secrets: %s: %w", s.name, err)
	}
	return *out.Parameter.Value, nil
}

var errEmpty = errors.New("the parameter has no value")
