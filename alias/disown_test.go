package alias_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// The teacher of a phrase is forgotten, also in rows of the older system and in
// older spellings. The phrase stays as it was, and so does what others taught.
func TestDisown(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	putDisken(t, w.f, eventAt(t, 60))
	taught := with(golden(t, "older"), map[string]any{"sk": s("PANT"), "learnedFrom": map[string]any{"N": "42"}})
	others := with(golden(t, "older"), map[string]any{"sk": s("other"), "learnedFrom": s("420")})
	w.f.write(t, taught)
	w.f.write(t, others)
	before := w.f.stored(t, "ALIAS#-100123", "ta disken")
	disown := func(want int) {
		t.Helper()
		if n, err := w.f.Disown(t.Context(), chat, "42"); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
	}
	w.f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 2})
	single := fixture{w.f.through(t, once(w.f.db.Client()), nil), w.f.db, w.f.table}
	if n, err := single.Disown(t.Context(), chat, "42"); n != 1 || err == nil || !strings.HasPrefix(err.Error(), "alias: Disown on table ") {
		t.Errorf("a lost reply: %d, %v", n, err)
	}
	disown(0)
	for sk, row := range map[string]map[string]any{"ta disken": before, "PANT": taught, "other": others} {
		row = maps.Clone(row)
		if sk != "other" {
			delete(row, "learnedFrom")
		}
		if diff := cmp.Diff(row, w.f.stored(t, "ALIAS#-100123", sk)); diff != "" {
			t.Errorf("%s: %s", sk, diff)
		}
	}
	means(t, w.f, "diskning", 0)
	_, err := w.f.Disown(t.Context(), chat, "")
	recordtest.WantBad(t, err, "alias", "actor")
}

// A phrase that somebody else teaches meanwhile keeps its teacher.
func TestDisownBesideATeacher(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	putDisken(t, w.f, eventAt(t, 60))
	w.f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		do(t, event.Created)(w.f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "ta disken", Name: "y", Event: eventAt(t, 5), Actor: "43"}))
	})})
	if n, err := w.f.another(t, nil).Disown(t.Context(), chat, "42"); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if a, ok, err := w.f.Get(t.Context(), chat, "ta disken"); !ok || err != nil || a.LearnedFrom != "43" {
		t.Errorf("%+v, %t, %v", a, ok, err)
	}
}
