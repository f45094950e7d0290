package cookbook_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/schema"
)

var update = flag.Bool("update", false, "write the files in testdata")

// What is written, to the byte. Twice the same.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for golden, write := range map[string]func(io.Writer) error{
		"testdata/template.json":    cookbook.WriteTemplate,
		"testdata/checkout.tf.json": cookbook.WriteTerraform,
	} {
		for range 2 {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s: -want +got\n%s", golden, diff)
			}
		}
	}
}

// Start refuses tables that are not as they are defined, and only reads.
func TestStart(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	start := func(want string) {
		t.Helper()
		cost := db.Meter(func() {
			_, err := cookbook.Start(t.Context(), db.Client())
			var lacks *schema.MismatchError
			if (want == "") != (err == nil) || err != nil && (!errors.As(err, &lacks) || !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
		for _, op := range slices.Sorted(maps.Keys(cost.ByOp)) {
			if !strings.HasPrefix(op, "Describe") {
				t.Errorf("Start sends %s", op)
			}
		}
	}
	c, err := cookbook.NewCheckout(db.Client())
	if err != nil {
		t.Fatal(err)
	}
	start("table checkout-seen differs: it does not exist; table checkout-days")
	if err := schema.Create(t.Context(), db.Client(), c.Tables()...); err != nil {
		t.Fatal(err)
	}
	start("")
	db.Meter(func() { start("") }).Want(t, dynamotest.Price{Requests: 5})
	off := c.Days.Table().TTLInput()
	off.TimeToLiveSpecification.Enabled = aws.Bool(false)
	if _, err := db.Client().UpdateTimeToLive(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	start("table checkout-days differs: it has no TTL")
}

// Somebody made one table by hand, without backups or protection.
func ExampleCheckout_Report() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	c, err := cookbook.NewCheckout(db)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, c.Seen.Table(), c.Days.Table()); err != nil {
		panic(err)
	}
	_, err = cookbook.Start(ctx, db)
	fmt.Println(err)
	if err := c.Report(ctx, db, os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// schema: table checkout-seen differs: it has no deletion protection; it has no point-in-time recovery
	// checkout-seen: it has no deletion protection
	//   UpdateTable, at once
	// checkout-seen: it has no point-in-time recovery
	//   UpdateContinuousBackups, at once; backups reach back to when they were last switched on
}
