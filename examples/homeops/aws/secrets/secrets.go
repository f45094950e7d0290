// Package secrets reads secrets from SSM's Parameter Store. What configures a
// process, and is shown to everybody who may look at that, holds their names only.
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

// API is what is used of an *ssm.Client; the process needs ssm:GetParameter on the
// parameter, and kms:Decrypt where a key of one's own encrypts it.
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

// toRefresh bounds an attempt, so that a request does not wait for SSM when it
// has a value to go on with.
const toRefresh = 2 * time.Second

// Config of a Secret. The zero Config works.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Check refuses a value. Its error must not hold the value. Nil takes all.
	Check func(value string) error
	// Log is told of every attempt that failed. Nil tells nobody.
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

// Open reads the parameter: one request. It fails if that fails.
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
// than none. Of callers side by side one asks SSM, and the others do not wait.
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

// look returns the known value, and whether the caller is to ask for a new one.
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
