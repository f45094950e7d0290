package wire_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// Clients at once, whose requests and replies share room, see what each of them
// wrote: items, old and new images, snapshots and streams, whatever came after.
func TestRoomIsSharedByManyClients(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	server := httptest.NewServer(wire.Handler(eng))
	server.Client().Transport.(*http.Transport).DisableCompression = true
	t.Cleanup(server.Close)
	if status, body := post(t, server, "DynamoDB_20120810.UpdateTable", strings.NewReader(
		`{"TableName":"plain","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`)); status != http.StatusOK {
		t.Fatal(body)
	}
	const workers, rounds = 8, 60
	var wg sync.WaitGroup
	written := make([]map[string][]string, workers)
	for i := range workers {
		w := &writer{t: t, server: server, eng: eng, id: i, rnd: rand.New(rand.NewPCG(7, uint64(i))), stands: map[string]string{}, images: map[string][]string{}}
		written[i] = w.images
		wg.Go(func() {
			for range rounds {
				w.step()
			}
			w.end()
		})
	}
	wg.Wait()
	checkStream(t, server, written)
}

// A writer has items of its own and knows what stands in them.
type writer struct {
	t      *testing.T
	server *httptest.Server
	eng    *engine.Engine
	id     int
	rnd    *rand.Rand
	stands map[string]string   // an item as JSON, by its id
	images map[string][]string // all new images of an item, in order
	kept   []keptSnapshot
}

type keptSnapshot struct {
	state  *engine.Snapshot
	stands map[string]string
}

func (w *writer) do(op, body string) (out map[string]any) {
	w.t.Helper()
	status, text := post(w.t, w.server, "DynamoDB_20120810."+op, strings.NewReader(body))
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		w.t.Errorf("%s: %v in %.300s", op, err, text)
	}
	if out["__type"] != nil && !strings.Contains(text, "ConditionalCheckFailed") {
		w.t.Errorf("%s: %d %.300s", op, status, text)
	}
	return out
}

func (w *writer) same(what string, got any, want string) {
	w.t.Helper()
	var wanted any
	if want != "" {
		_ = json.Unmarshal([]byte(want), &wanted)
	}
	if d := cmp.Diff(wanted, got); d != "" {
		w.t.Errorf("%s: %.2000s", what, d)
	}
}

// item makes an item with values of all sorts.
func (w *writer) item(id string) string {
	sizes := []int{0, 3, 40, 300, 4000, 30_000, 70_000}
	text := func() string {
		size := sizes[w.rnd.IntN(len(sizes))]
		return strings.Repeat(fmt.Sprintf("%d.%x|", w.id, w.rnd.Uint32()), size/10+1)
	}
	return fmt.Sprintf(`{"id":{"S":"%s"},"name%d":{"S":"%s"},"m":{"M":{"k%x":{"L":[{"S":"%s"},{"N":"%d"}]},"é\"":{"B":"%s"}}},"ss":{"SS":["%s"]},"n":{"N":"%d"}}`,
		id, w.rnd.IntN(500), text(), w.rnd.IntN(3000), text(), 1+w.rnd.IntN(1e9), strings.Repeat("YWJj", 1+w.rnd.IntN(2000)), text(), 1+w.rnd.IntN(1e9))
}

func (w *writer) wrote(id, item string) {
	if w.stands[id] = item; item == "" {
		delete(w.stands, id)
	}
	w.images[id] = append(w.images[id], item)
}

func (w *writer) step() {
	id := fmt.Sprintf("w%d-%d", w.id, w.rnd.IntN(6))
	key := fmt.Sprintf(`{"id":{"S":"%s"}}`, id)
	old := w.stands[id]
	switch w.rnd.IntN(9) {
	case 0, 1, 2:
		item := w.item(id)
		out := w.do("PutItem", `{"TableName":"plain","ReturnValues":"ALL_OLD","Item":`+item+`}`)
		w.same("put", out["Attributes"], old)
		w.wrote(id, item)
	case 3:
		out := w.do("DeleteItem", `{"TableName":"plain","ReturnValues":"ALL_OLD","Key":`+key+`}`)
		w.same("delete", out["Attributes"], old)
		if old != "" {
			w.wrote(id, "")
		}
	case 4:
		out := w.do("GetItem", `{"TableName":"plain","ConsistentRead":true,"Key":`+key+`}`)
		w.same("get", out["Item"], old)
	case 5:
		if old == "" {
			return
		}
		out := w.do("PutItem", `{"TableName":"plain","ConditionExpression":"attribute_not_exists(id)","ReturnValuesOnConditionCheckFailure":"ALL_OLD","Item":`+w.item(id)+`}`)
		w.same("refused put", out["Item"], old)
	case 6:
		item := w.item(id)
		token := fmt.Sprintf("t%d-%d", w.id, w.rnd.Uint32())
		body := `{"ClientRequestToken":"` + token + `","TransactItems":[{"Put":{"TableName":"plain","Item":` + item + `}}]}`
		w.do("TransactWriteItems", body)
		w.do("TransactWriteItems", body)
		w.wrote(id, item)
	case 7:
		out := w.do("Query", `{"TableName":"plain","ConsistentRead":true,"KeyConditionExpression":"id = :i","ExpressionAttributeValues":{":i":{"S":"`+id+`"}}}`)
		w.same("query", out["Items"], "["+old+"]")
	default:
		if len(w.kept) < 4 {
			w.kept = append(w.kept, keptSnapshot{w.eng.Snapshot(), maps.Clone(w.stands)})
		}
	}
}

// end compares what stands, now and in the snapshots of long ago.
func (w *writer) end() {
	w.kept = append(w.kept, keptSnapshot{w.eng.Snapshot(), w.stands})
	for _, kept := range w.kept {
		fork := engine.New(engine.Options{})
		fork.Restore(kept.state)
		for i := range 6 {
			id := fmt.Sprintf("w%d-%d", w.id, i)
			rep := wire.Do(w.t.Context(), fork, "GetItem", []byte(`{"TableName":"plain","Key":{"id":{"S":"`+id+`"}}}`))
			var out map[string]any
			if err := json.Unmarshal(rep.Body, &out); err != nil {
				w.t.Error(err)
			}
			w.same("in a snapshot", out["Item"], kept.stands[id])
		}
	}
}

// checkStream compares each item's records with what was written to it.
func checkStream(t *testing.T, server *httptest.Server, written []map[string][]string) {
	t.Helper()
	ask := func(op, body string, out any) {
		t.Helper()
		status, text := post(t, server, "DynamoDBStreams_20120810."+op, strings.NewReader(body))
		if err := json.Unmarshal([]byte(text), out); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %.300s %v", op, status, text, err)
		}
	}
	var streams struct{ Streams []struct{ StreamArn string } }
	ask("ListStreams", `{}`, &streams)
	arn := streams.Streams[0].StreamArn
	var about struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	ask("DescribeStream", `{"StreamArn":"`+arn+`"}`, &about)
	var at struct{ ShardIterator string }
	ask("GetShardIterator", `{"StreamArn":"`+arn+`","ShardIteratorType":"TRIM_HORIZON","ShardId":"`+about.StreamDescription.Shards[0].ShardId+`"}`, &at)
	seen := map[string]int{}
	for next, some := at.ShardIterator, true; some; {
		var page struct {
			NextShardIterator string
			Records           []struct {
				Dynamodb struct {
					Keys               struct{ ID struct{ S string } }
					NewImage, OldImage any
				}
			}
		}
		ask("GetRecords", `{"ShardIterator":"`+next+`"}`, &page)
		next, some = page.NextShardIterator, len(page.Records) > 0
		for _, r := range page.Records {
			id := r.Dynamodb.Keys.ID.S
			var of int
			if _, err := fmt.Sscanf(id, "w%d-", &of); err != nil {
				t.Fatal(err)
			}
			images := written[of][id]
			n := seen[id]
			seen[id]++
			for what, got := range map[string]any{"old": r.Dynamodb.OldImage, "new": r.Dynamodb.NewImage} {
				i, want := n, any(nil)
				if what == "old" {
					i--
				}
				if i >= 0 && images[i] != "" {
					_ = json.Unmarshal([]byte(images[i]), &want)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s image %d of %s: %.1000s", what, n, id, d)
				}
			}
		}
	}
	for i := range written {
		for id, images := range written[i] {
			if seen[id] != len(images) {
				t.Errorf("%s has %d records of %d", id, seen[id], len(images))
			}
		}
	}
}
