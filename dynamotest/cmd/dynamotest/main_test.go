package main

import (
	"context"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestServe(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- serve(ctx, options{addr: "127.0.0.1:0"}, func(url string) { ready <- url }) }()
	db := dynamotest.Connect(<-ready)
	table := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("pk")}, TTL: "expiresAt"}
	if err := schema.Create(t.Context(), db, table); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestServeSaysWhenThePortIsTaken(t *testing.T) {
	t.Parallel()
	if err := serve(t.Context(), options{addr: "256.0.0.1:1"}, func(string) {}); err == nil {
		t.Error("listening nowhere")
	}
}
