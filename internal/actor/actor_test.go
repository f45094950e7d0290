package actor_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestTypes(t *testing.T) {
	t.Parallel()
	for typ, want := range map[actor.Type]struct {
		value     types.AttributeValue
		attribute schema.Attribute
	}{
		actor.Number: {&types.AttributeValueMemberN{Value: "42"}, schema.Number("userId")},
		actor.String: {&types.AttributeValueMemberS{Value: "42"}, schema.String("userId")},
	} {
		if err := actor.CheckType("activity", typ); err != nil {
			t.Error(err)
		}
		if err := actor.CheckID("activity", typ, "42"); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want.value, actor.Value(typ, "42"), cmpopts.IgnoreUnexported(types.AttributeValueMemberN{}, types.AttributeValueMemberS{})); diff != "" {
			t.Errorf("Value (-want +got):\n%s", diff)
		}
		if got := actor.Attribute(typ, "userId"); got != want.attribute {
			t.Errorf("Attribute = %v, want %v", got, want.attribute)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for typ, want := range map[actor.Type]string{actor.Number: "Number", actor.String: "String", 7: "ActorType(7)"} {
		if got := typ.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	recordtest.WantBad(t, actor.CheckType("message", actor.String+1), "message", "Config.ActorType")
	for typ, ids := range map[actor.Type][]string{actor.Number: {"", "anna", "007"}, actor.String: {"", "\xff"}} {
		for _, id := range ids {
			recordtest.WantBad(t, actor.CheckID("message", typ, id), "message", "Actor", id)
		}
	}
	if err := actor.CheckID("message", actor.String, "anna"); err != nil {
		t.Error(err)
	}
}
