// Package pipeline explores the examples' pipelines: a worker that dies before or after
// each of its requests, two workers on one delivery, and a visibility that ends in the
// middle. It is for tests.
//
//	go test ./examples/bot -run Pipeline -proof.long
package pipeline

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var (
	long   = flag.Bool("proof.long", false, "run all schedules of each pipeline, with two faults")
	within = flag.Duration("proof.within", time.Minute, "with -proof.long, how long each pipeline may take")
)

// Test explores a delivery to two workers, or several deliveries to one worker each. One
// may die or hear no reply; if they have the same delivery, one may begin when the
// visibility has ended. The cheapest of so many schedules run first. The long run explores
// all of them, and those with two faults. It samples what it cannot end. One worker with one
// fault has four times as long.
func Test[M any](t *testing.T, schedules int, cfg explore.Config, d explore.Deliveries[M], start func(*explore.Process) func(context.Context, M) error) {
	t.Helper()
	d.Twice = len(d.Messages) == 1
	if d.Visibility > 0 {
		cfg.Moments = append(cfg.Moments, d.Visibility)
	}
	faults := func(n int) { cfg.Faults = explore.Faults{Late: n, Unheard: n, Deaths: n, Total: n} }
	faults(1)
	if !*long {
		Run(t, "one fault", schedules, cfg, d, start)
		return
	}
	if d.Twice {
		single := d
		single.Twice = false
		longer := cfg
		longer.Within = 4 * *within
		Run(t, "one worker, one fault", schedules, longer, single, start)
		faults(2)
		Run(t, "one worker, two faults", schedules, cfg, single, start)
		cfg.Moves = 1
	}
	faults(1)
	Run(t, "two workers, one fault", schedules, cfg, d, start)
	faults(2)
	Run(t, "two workers, two faults", 0, cfg, d, start)
}

// Run explores one configuration. The long run explores all schedules, if there are to be
// any, and samples.
func Run[M any](t *testing.T, name string, schedules int, cfg explore.Config, d explore.Deliveries[M], start func(*explore.Process) func(context.Context, M) error) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		cfg.Schedules, cfg.Within, cfg.Seed = schedules, cmp.Or(cfg.Within, *within), 1
		if *long {
			cfg.Schedules, cfg.Samples = 10_000_000, 100
		}
		if schedules == 0 {
			cfg.Schedules = 1
		}
		cfg.Server = withoutTTL(t, cfg.Server)
		r := explore.Handler(t, cfg, d, start)
		if *long {
			fmt.Printf("| %s | %d | %d | %v |\n", t.Name(), r.Schedules, r.States, r.Exhausted)
		}
	})
}

// withoutTTL returns a server with the same tables, in which nothing expires: what has
// expired is missing from what an undisturbed worker leaves.
func withoutTTL(t *testing.T, from *dynamotest.Server) *dynamotest.Server {
	t.Helper()
	server := dynamotest.NewServer(&dynamotest.Config{From: from.Snapshot()})
	for _, table := range server.Tables() {
		ttl, err := server.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		name := ttl.TimeToLiveDescription.AttributeName
		if name == nil {
			continue
		}
		_, err = server.Client().UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName: &table, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: name, Enabled: new(false)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return server
}
