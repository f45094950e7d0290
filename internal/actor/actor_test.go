package actor_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

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
