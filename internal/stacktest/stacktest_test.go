package stacktest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
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

// A template that lacks a part of the definition fails, and a right template does
// not.
func TestCheckNoticesATemplateThatDiffers(t *testing.T) {
	t.Parallel()
	right := &recorder{TB: t}
	stacktest.Check(right, orders, properties(t))
	if len(right.errors) > 0 {
		t.Errorf("a right template: %v", right.errors)
	}
	without := properties(t)
	delete(without, "TimeToLiveSpecification")
	wrong := &recorder{TB: t}
	stacktest.Check(wrong, orders, without)
	if len(wrong.errors) == 0 || !strings.Contains(wrong.errors[0], "differs as it is deployed: [it has no TTL]") {
		t.Errorf("a template without TTL: %v", wrong.errors)
	}
}

// A property that Deploy does not pass on would not be checked by anything.
func TestDeployRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	more := properties(t)
	more["StreamSpecification"] = map[string]any{"StreamViewType": "NEW_IMAGE"}
	if err := stacktest.Deploy(t.Context(), dynamotest.New(t, nil).Client(), more); err == nil || !strings.Contains(err.Error(), "StreamSpecification") {
		t.Errorf("got %v", err)
	}
}
