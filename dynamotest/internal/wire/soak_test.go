package wire_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

const accounts = 16 // each holds 100 at first

// In TestSoak 64 goroutines move money between accounts, count, read, list and
// take snapshots at once, beside hostile requests. Every reader sees all the
// money, and in the end every accepted call has counted once.
func TestSoak(t *testing.T) {
	t.Parallel()
	const workers, rounds = 64, 60
	bank := &bank{t: t, eng: newEngine(t, nil)}
	for i := range accounts {
		bank.do("PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"a%d"},"n":{"N":"100"}}}`, i))
	}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for round := range rounds {
				bank.work(worker, round)
			}
		})
	}
	wg.Wait()
	if total := bank.total(bank.eng); total != accounts*100 {
		t.Errorf("%d is left", total)
	}
	out := bank.do("GetItem", `{"TableName":"plain","Key":{"id":{"S":"moves"}}}`)
	if want := `"n":{"N":"` + strconv.FormatInt(bank.moves.Load(), 10) + `"}`; !strings.Contains(out, want) || bank.moves.Load() == 0 {
		t.Errorf("%s, want %s", out, want)
	}
}

type bank struct {
	t     *testing.T
	eng   *engine.Engine
	moves atomic.Int64 // those accepted
}

// do performs an operation that must succeed.
func (b *bank) do(op, body string) string {
	rep := wire.Do(b.t.Context(), b.eng, op, []byte(body))
	if rep.Status != http.StatusOK {
		b.t.Errorf("%s %.300s: %s", op, body, rep.Body)
	}
	return string(rep.Body)
}

func (b *bank) work(worker, round int) {
	from := (worker + round) % accounts
	switch worker % 8 {
	case 0, 1, 2, 3:
		b.move(from, (from+1+round%(accounts-1))%accounts)
	case 4:
		if total := b.totalRead(); total != accounts*100 {
			b.t.Errorf("a transaction saw %d", total)
		}
	case 5:
		if total := b.total(b.eng); total != accounts*100 {
			b.t.Errorf("a scan saw %d", total)
		}
	case 6:
		fork := engine.New(engine.Options{})
		fork.Restore(b.eng.Snapshot())
		wire.Do(b.t.Context(), fork, "DeleteItem", []byte(`{"TableName":"plain","Key":{"id":{"S":"a0"}}}`))
		if total := b.total(b.eng); total != accounts*100 {
			b.t.Errorf("beside a fork there is %d", total)
		}
	default:
		hostile := `{"TableName":"plain","Item":` + strings.Repeat(`{"L":[`, 200)
		if rep := wire.Do(b.t.Context(), b.eng, "PutItem", []byte(hostile)); rep.Status != http.StatusBadRequest {
			b.t.Errorf("%d %s", rep.Status, rep.Body)
		}
	}
}

// move moves 1 and counts the move, all or nothing.
func (b *bank) move(from, to int) {
	update := func(id, change, more string) string {
		return fmt.Sprintf(`{"Update":{"TableName":"plain","Key":{"id":{"S":"%s"}},"UpdateExpression":"ADD #n :d"%s,`+
			`"ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":d":{"N":"%s"}%s}}}`, id, "", change, more)
	}
	poor := strings.Replace(update(fmt.Sprintf("a%d", from), "-1", `,":min":{"N":"95"}`), `"UpdateExpression"`, `"ConditionExpression":"#n > :min","UpdateExpression"`, 1)
	body := `{"TransactItems":[` + poor + "," + update(fmt.Sprintf("a%d", to), "1", "") + "," + update("moves", "1", "") + `]}`
	switch rep := wire.Do(b.t.Context(), b.eng, "TransactWriteItems", []byte(body)); {
	case rep.Status == http.StatusOK:
		b.moves.Add(1)
	case !strings.Contains(string(rep.Body), "ConditionalCheckFailed"):
		b.t.Errorf("%s: %s", body, rep.Body)
	}
}

// numbered has the attributes of an item that matter here.
type numbered struct{ ID, N map[string]string }

func sum(t *testing.T, items []numbered) int {
	t.Helper()
	total := 0
	for _, it := range items {
		if it.ID["S"] == "moves" {
			continue
		}
		n, err := strconv.Atoi(it.N["N"])
		if err != nil {
			t.Error(err)
		}
		total += n
	}
	return total
}

// total returns the sum that a scan sees.
func (b *bank) total(eng *engine.Engine) int {
	var out struct{ Items []numbered }
	rep := wire.Do(b.t.Context(), eng, "Scan", []byte(`{"TableName":"plain"}`))
	if err := json.Unmarshal(rep.Body, &out); err != nil {
		b.t.Error(err)
	}
	return sum(b.t, out.Items)
}

// totalRead returns the sum that a transaction of reads sees.
func (b *bank) totalRead() int {
	gets := make([]string, accounts)
	for i := range gets {
		gets[i] = fmt.Sprintf(`{"Get":{"TableName":"plain","Key":{"id":{"S":"a%d"}}}}`, i)
	}
	var out struct{ Responses []struct{ Item numbered } }
	body := b.do("TransactGetItems", `{"TransactItems":[`+strings.Join(gets, ",")+`]}`)
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		b.t.Error(err)
	}
	items := make([]numbered, len(out.Responses))
	for i, r := range out.Responses {
		items[i] = r.Item
	}
	return sum(b.t, items)
}
