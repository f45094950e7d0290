package schema_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// What one definition asks for, the merged one has, whichever comes first.
func TestMergeUnitesTheSettings(t *testing.T) {
	t.Parallel()
	plain, full := table("messages"), table("messages")
	plain.TTL = ""
	full.PointInTimeRecovery, full.DeletionProtection, full.KMSKey = true, true, "alias/own"
	for _, order := range [][]schema.Table{{plain, full}, {full, plain}} {
		merged, err := schema.Merge(order...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]schema.Table{full}, merged); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMergeDoesNotWriteBehindItsArgument(t *testing.T) {
	t.Parallel()
	index := func(name string) schema.Index {
		return schema.Index{Name: name, Key: schema.Key{Partition: schema.String(name)}}
	}
	all := []schema.Index{index("first"), index("second")}
	one, other := table("messages"), table("messages")
	one.Indexes, other.Indexes = all[:1], []schema.Index{index("third")}
	if _, err := schema.Merge(one, other); err != nil {
		t.Fatal(err)
	}
	if all[1].Name != "second" {
		t.Errorf("the caller's second index is %q", all[1].Name)
	}
}

func TestMergeRefusesWhatNoTableCanBe(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*schema.Table){
		"messages index by-user": func(t *schema.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) },
		"messages":               func(t *schema.Table) { t.Indexes, t.Key.Sort = nil, t.Key.Partition },
		"messages key chatId":    func(t *schema.Table) { t.Key.Partition.Type = "BOOL" },
	} {
		wrong := table("messages")
		change(&wrong)
		_, err := schema.Merge(wrong)
		if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != field {
			t.Errorf("got %v, want an InputError of %q", err, field)
		}
	}
}
