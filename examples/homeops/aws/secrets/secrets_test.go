package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/secrets"
)

// store is a fake SSM.
type store struct {
	value string
	err   error
	asked int
	hold  chan struct{} // answers wait until it is closed
}

func (s *store) GetParameter(ctx context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	s.asked++
	if aws.ToString(in.Name) != "/homeops/secret" || !aws.ToBool(in.WithDecryption) {
		return nil, errors.New("asked for something else")
	}
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &ssm.GetParameterOutput{Parameter: &types.Parameter{Value: &s.value}}, s.err
}

func open(t *testing.T, s *store, cfg secrets.Config) *secrets.Secret {
	t.Helper()
	secret, err := secrets.Open(t.Context(), s, "/homeops/secret", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func check(value string) error {
	if strings.Contains(value, " ") {
		return errors.New("a space is in it")
	}
	return nil
}

func TestARotatedSecretWorksWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{value: "first"}
		secret := open(t, s, secrets.Config{})
		s.value = "new"
		time.Sleep(secrets.MaxAge - time.Nanosecond)
		if got := secret.Value(t.Context()); got != "first" || s.asked != 1 {
			t.Errorf("%q after %d requests", got, s.asked)
		}
		time.Sleep(time.Nanosecond)
		for range 2 {
			if got := secret.Value(t.Context()); got != "new" || s.asked != 2 {
				t.Errorf("%q after %d requests", got, s.asked)
			}
		}
		time.Sleep(secrets.MaxAge - time.Nanosecond) // the new value is used for as long
		if secret.Value(t.Context()); s.asked != 2 {
			t.Errorf("%d requests", s.asked)
		}
		time.Sleep(time.Nanosecond)
		if secret.Value(t.Context()); s.asked != 3 {
			t.Errorf("%d requests", s.asked)
		}
	})
}

// If SSM fails, or has an invalid value, the old value stays in use. The log
// says so without the value, and SSM is asked again after a while.
func TestAnOldSecretIsBetterThanNone(t *testing.T) {
	t.Parallel()
	for name, break_ := range map[string]func(*store){
		"unreachable":      func(s *store) { s.err = errors.New("unreachable") },
		"a space is in it": func(s *store) { s.value = "the new one" },
		"no value":         func(s *store) { s.value = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s := &store{value: "first"}
				secret := open(t, s, secrets.Config{Check: check, Log: slog.New(slog.NewTextHandler(&log, nil))})
				time.Sleep(secrets.MaxAge)
				break_(s)
				for range 2 {
					if got := secret.Value(t.Context()); got != "first" || s.asked != 2 {
						t.Errorf("%q after %d requests", got, s.asked)
					}
				}
				if !strings.Contains(log.String(), name) || !strings.Contains(log.String(), "/homeops/secret") {
					t.Errorf("logged %s", &log)
				}
				if strings.Contains(log.String(), "first") || strings.Contains(log.String(), "new one") {
					t.Errorf("the log has the secret: %s", &log)
				}
				s.value, s.err = "new", nil
				time.Sleep(secrets.AfterTrouble)
				if got := secret.Value(t.Context()); got != "new" || s.asked != 3 {
					t.Errorf("%q after %d requests", got, s.asked)
				}
			})
		})
	}
}

// While one caller asks SSM the others go on, and that one waits two seconds at
// most.
func TestNobodyWaitsForSSM(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{value: "first"}
		secret := open(t, s, secrets.Config{})
		time.Sleep(secrets.MaxAge)
		s.hold = make(chan struct{})
		began := time.Now()
		var asking sync.WaitGroup
		asking.Go(func() { secret.Value(t.Context()) })
		synctest.Wait()
		if got := secret.Value(t.Context()); got != "first" || s.asked != 2 || time.Since(began) > 0 {
			t.Errorf("%q after %d requests and %v", got, s.asked, time.Since(began))
		}
		asking.Wait()
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*store{
		"unreachable":      {err: errors.New("unreachable")},
		"a space is in it": {value: "a b"},
		"no value":         {},
	} {
		_, err := secrets.Open(t.Context(), s, "/homeops/secret", secrets.Config{Check: check})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "/homeops/secret") || strings.Contains(err.Error(), "a b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
