package stacktest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/internal/stacktest"
	"github.com/homeops/ddbpatterns/schema"
)

// recorder keeps the failures of a test.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

var orders = schema.Table{
	Name: "orders", Key: schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")}, TTL: "expiresAt",
	Indexes: []schema.Index{{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}}},
}

func properties(t *testing.T) map[string]any {
	t.Helper()
	resources, err := schema.CloudFormation(orders)
	if err != nil {
		t.Fatal(err)
	}
	return resources[schema.LogicalID("orders")].(map[string]any)["Properties"].(map[string]any)
}

// A template that lacks a part of the definition fails.
func TestCheckNoticesATemplateThatDiffers(t *testing.T) {
	t.Parallel()
	without := properties(t)
	delete(without, "TimeToLiveSpecification")
	wrong := &recorder{TB: t}
	stacktest.Check(wrong, orders, without)
	if len(wrong.errors) == 0 || !strings.Contains(wrong.errors[0], "differs as it is deployed: [it has no TTL]") {
		t.Errorf("a template without TTL: %v", wrong.errors)
	}
}
