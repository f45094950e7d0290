package actor_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestRefuses(t *testing.T) {
	t.Parallel()
	recordtest.WantBad(t, actor.CheckType("message", "B"), "message", "Config.ActorType")
	for typ, ids := range map[types.ScalarAttributeType][]string{types.ScalarAttributeTypeN: {"", "anna", "007"}, types.ScalarAttributeTypeS: {"", "\xff"}} {
		for _, id := range ids {
			recordtest.WantBad(t, actor.CheckID("message", typ, id), "message", "Actor", id)
		}
	}
	if err := actor.CheckID("message", types.ScalarAttributeTypeS, "anna"); err != nil {
		t.Error(err)
	}
}
