package actor_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/schema"
)

func TestTypes(t *testing.T) {
	t.Parallel()
	for typ, want := range map[actor.Type]struct {
		value     types.AttributeValue
		attribute schema.Attribute
	}{
		types.ScalarAttributeTypeN: {&types.AttributeValueMemberN{Value: "42"}, schema.Number("userId")},
		types.ScalarAttributeTypeS: {&types.AttributeValueMemberS{Value: "42"}, schema.String("userId")},
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

func TestRefuses(t *testing.T) {
	t.Parallel()
	wantBad := func(err error, want event.InputError) {
		t.Helper()
		var bad *event.InputError
		if !errors.As(err, &bad) || bad.Package != want.Package || bad.Field != want.Field {
			t.Errorf("got %v, want an InputError of %s's %s", err, want.Package, want.Field)
		}
	}
	wantBad(actor.CheckType("message", "B"), event.InputError{Package: "message", Field: "Config.ActorType"})
	for typ, ids := range map[actor.Type][]string{types.ScalarAttributeTypeN: {"", "anna", "007"}, types.ScalarAttributeTypeS: {"", "\xff"}} {
		for _, id := range ids {
			wantBad(actor.CheckID("message", typ, id), event.InputError{Package: "message", Field: "Actor"})
		}
	}
	if err := actor.CheckID("message", types.ScalarAttributeTypeS, "anna"); err != nil {
		t.Error(err)
	}
}
