package message_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// busy is a scope in which so many pages are full, whatever their size.
type busy struct {
	recordtest.API
	pages int
	asked []string
}

func (b *busy) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	b.asked = append(b.asked, fmt.Sprint(aws.ToInt32(in.Limit), aws.ToBool(in.ConsistentRead), aws.ToBool(in.ScanIndexForward)))
	out := &dynamodb.QueryOutput{}
	for range aws.ToInt32(in.Limit) {
		row := ddb.Item{"chatId": item.S(chat), "messageId": item.N(1 << 40), "timestamp": item.N(noon.UnixMilli())}
		out.Items = append(out.Items, row)
	}
	if len(b.asked) < b.pages {
		out.LastEvaluatedKey = out.Items[0]
	}
	return out, nil
}

// Pages grow, up to a bound, and are as consistent as was asked.
func TestPagesGrow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		read func(*message.Store) error
		want []string
	}{
		"messages": {
			func(s *message.Store) error {
				for _, err := range s.InScope(t.Context(), chat, message.Range{NewestFirst: true, Consistent: true}) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			[]string{"16 true false", "64 true false", "256 true false", "1024 true false", "1024 true false"},
		},
		"a Limit": {
			func(s *message.Store) error {
				next := "not written"
				got := seqs(t, s.InScope(t.Context(), chat, message.Range{Limit: math.MaxInt, Next: &next}))
				if want := 3 << 14; len(got) != want || next != "" {
					t.Errorf("%d messages, want %d, next %q", len(got), want, next)
				}
				return nil
			},
			[]string{"16384 false true", "16384 false true", "16384 false true"},
		},
		"the pace": {
			func(s *message.Store) error {
				_, err := s.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 1 << 40, Actor: anna, At: noon})
				return err
			},
			[]string{
				"4 false false", "8 false false", "16 false false", "32 false false", "64 false false", "128 false false",
				"256 false false", "512 false false", "1024 false false", "1024 false false",
			},
		},
	} {
		api := &busy{API: recordtest.Silent(t), pages: len(tc.want)}
		s, err := message.New(api, "messages", &message.Config{Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		if err := tc.read(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, api.asked); diff != "" {
			t.Errorf("%s: limit, consistent, forward (-want +got):\n%s", name, diff)
		}
	}
}
