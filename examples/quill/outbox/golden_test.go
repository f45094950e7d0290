package outbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/internal/golden"
)

// wantStored compares with the stored item. Every nonce is different, so only its
// length counts.
func (e *env) wantStored(t *testing.T, file string) {
	t.Helper()
	want := golden.Item(t, file)
	out, err := e.db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: map[string]types.AttributeValue{"pk": want["pk"]}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if nonce, ok := out.Item["nonce"].(*types.AttributeValueMemberS); ok {
		nonce.Value = strings.Repeat("N", len(nonce.Value))
	}
	if diff := cmp.Diff(golden.Format(want), golden.Format(out.Item)); diff != "" {
		t.Errorf("%s (-want +stored):\n%s", file, diff)
	}
}

// These are the stored rows of each kind. testdata is the format.
func TestItemsAsTheyAreStored(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 985097163)
	e.wantStored(t, "testdata/pending.json")
	e.mark(t, "7.1", 985097163)
	e.wantStored(t, "testdata/posted.json")

	bare := fact.Fact{Key: "HUBSPOT:62515:22", Table: fact.Changes, At: noon, Row: fact.Row{"isSensitive": false, "amount": json.Number("-1.50")}}
	if out, _, err := e.send(t.Context(), e.item(t, bare)); out != event.Created || err != nil {
		t.Error(out, err)
	}
	e.wantStored(t, "testdata/bare.json")

	known := outbox.Known{
		Key: "ALOWARE:CONTACT:44500", Table: fact.Contacts,
		Row: fact.Row{"firstName": "Dee", "lastName": ""}, At: map[string]time.Time{"firstName": noon},
	}
	poster := outbox.Poster{
		Fence: 7, Batch: "7.2", Table: fact.Communications, Rows: 3, PostAt: noon,
		Hour: map[int64]outbox.Window{29_671_200: {Rows: 4, Posts: 2}}, Total: map[string]int64{fact.Communications: 4},
	}
	for _, err := range []error{
		e.Learn(t.Context(), 7, known),
		e.SavePoster(t.Context(), poster),
		e.Refuse(t.Context(), outbox.Refusal{Source: fact.HubSpot, Reason: "bad", Body: "{}", At: noon}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	e.wantStored(t, "testdata/known.json")
	e.wantStored(t, "testdata/poster.json")
	e.wantStored(t, "testdata/refused.json")
}
