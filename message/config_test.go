package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
)

// Actors of any text, and other names of attributes.
func TestConfiguredTable(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{
		ActorType: types.ScalarAttributeTypeS, Names: map[string]string{"chatId": "order", "messageId": "count", "userId": "user", "userName": "name", "userId-timestamp-index": "by-user"},
		ActorIndex: true,
	})
	want := schema.Table{
		Name: e.table,
		Key:  schema.Key{Partition: schema.String("order"), Sort: schema.Number("count")},
		Indexes: []schema.Index{{
			Name: "by-user", Key: schema.Key{Partition: schema.String("user"), Sort: schema.Number("timestamp")},
		}},
	}
	if diff := cmp.Diff(want, e.Table()); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
	m := said(1, "anna@example.com", 5)
	m.ActorName = "Anna"
	e.save(t, m, said(2, "", 4), said(3, "007", 3), said(4, "7", 2))
	m.CreatedAt = noon
	got, _, err := e.Get(t.Context(), chat, 1)
	if diff := cmp.Diff(m, got); err != nil || diff != "" {
		t.Errorf("Get: %v (-want +got):\n%s", err, diff)
	}
	if got := seqs(t, e.ByActor(t.Context(), "007", message.Range{})); !cmp.Equal(got, []int64{3}) {
		t.Errorf("ByActor = %v", got)
	}
	_, err = e.Save(t.Context(), said(5, strings.Repeat("u", 2049), 0))
	recordtest.WantBad(t, err, "message", "Actor")
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for field, configs := range map[string][]message.Config{
		"Config.ActorType":                       {{ActorType: "B"}},
		`Config.Names["chatId"]`:                 {{Names: map[string]string{"chatId": "text"}}, {Names: map[string]string{"chatId": "\xff"}}},
		`Config.Names["messageId"]`:              {{Names: map[string]string{"messageId": "chatId"}}, {Names: map[string]string{"messageId": "ttl"}}},
		`Config.Names["userId"]`:                 {{Names: map[string]string{"userId": "messageId"}}, {Names: map[string]string{"userId": "timestamp"}}},
		`Config.Names["userName"]`:               {{Names: map[string]string{"userName": "userId"}}},
		"Config.Retention":                       {{Retention: -time.Hour}, {Retention: time.Minute}},
		"Config.MaxSkew":                         {{MaxSkew: -1}, {MaxSkew: 25 * time.Hour}},
		`Config.Names["userId-timestamp-index"]`: {{Names: map[string]string{"userId-timestamp-index": "a"}}},
	} {
		for i, cfg := range configs {
			s, err := message.New(recordtest.Silent(t), "messages", &cfg)
			recordtest.WantBad(t, err, "message", field)
			if s != nil {
				t.Errorf("%s %d: a store came with the error", field, i)
			}
		}
	}
	_, err := message.New(nil, "messages", nil)
	recordtest.WantBad(t, err, "message", "api")
	_, err = message.New(recordtest.Silent(t), "", nil)
	recordtest.WantBad(t, err, "message", "table")
	if _, err := message.New(recordtest.Silent(t), "messages", nil); err != nil {
		t.Errorf("a nil Config: %v", err)
	}
}
