package dynamotest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

type broken struct{ next dynamodb.HTTPClient }

func (b broken) Do(r *http.Request) (*http.Response, error) {
	if reply, err := b.next.Do(r); err == nil {
		_ = reply.Body.Close()
	}
	return nil, errors.New("connection reset")
}

// "A fault that never fired fails the test": After has not called its function,
// because no reply came.
func TestHunterAfterThatCalledNothingIsIdle(t *testing.T) {
	t.Parallel()
	srv := dynamotest.NewServer(nil)
	tap := dynamotest.NewTap()
	db := dynamotest.Connect("http://localhost:1", func(o *dynamodb.Options) {
		o.HTTPClient = broken{srv.Client().Options().HTTPClient}
		o.RetryMaxAttempts = 1
	}, tap.Attach)
	called := 0
	tap.Inject(dynamotest.Fault{Do: dynamotest.After(func() { called++ })})
	if _, err := db.ListTables(t.Context(), nil); err == nil {
		t.Fatal("no error")
	}
	if idle := tap.Heal(); called == 0 && len(idle) == 0 {
		t.Error("the function was never called, and Heal has nothing to say")
	}
}

// Nor has Before, because the request was given up during a delay.
func TestHunterBeforeThatCalledNothingIsIdle(t *testing.T) {
	t.Parallel()
	srv := dynamotest.NewServer(nil)
	called := 0
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Minute), Times: 1})
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.Before(func() { called++ })})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := srv.Client().ListTables(ctx, nil); err == nil {
		t.Fatal("no error")
	}
	if _, err := srv.Client().ListTables(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if idle := srv.Tap().Heal(); called == 0 && len(idle) == 0 {
		t.Error("the function was never called, and Heal has nothing to say")
	}
}
