package bench_test

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/guregu/dynamo/v2"

	"github.com/homeops/ddbpatterns/tzclock"
)

// guregu accesses the same tables through guregu/dynamo, with structs as its
// users write them.
type guregu struct {
	ledger, counters, activities, messages, rows dynamo.Table
}

func newGuregu(client *dynamodb.Client) guregu {
	db := dynamo.NewFromIface(client)
	return guregu{db.Table("ledger"), db.Table("counters"), db.Table("activities"), db.Table("messages"), db.Table("rows")}
}

type ledgerRow struct {
	Key       string    `dynamo:"pk"`
	SeenAt    time.Time `dynamo:"seenAt"`
	ExpiresAt int64     `dynamo:"expiresAt"`
	Source    string    `dynamo:"source"`
	State     string    `dynamo:"state"`
	Claim     string    `dynamo:"claim"`
	Lease     int64     `dynamo:"lease"`
	Fence     int64     `dynamo:"fence"`
	Attempts  int64     `dynamo:"attempts"`
	Print     []byte    `dynamo:"fingerprint"`
}

type counterRow struct {
	Scope     string    `dynamo:"chatId"`
	Date      string    `dynamo:"date"`
	Count     int64     `dynamo:"count"`
	Recorded  int64     `dynamo:"recorded"`
	UpdatedAt time.Time `dynamo:"updatedAt"`
}

type activityRow struct {
	Scope      string    `dynamo:"chatId"`
	ID         string    `dynamo:"activityId"`
	Actor      int64     `dynamo:"userId"`
	ActorName  string    `dynamo:"userName"`
	Seq        int64     `dynamo:"messageId"`
	Timestamp  int64     `dynamo:"timestamp"`
	Kind       string    `dynamo:"type"`
	Name       string    `dynamo:"activity"`
	Effort     float64   `dynamo:"effort"`
	Confidence float64   `dynamo:"confidence"`
	NameTime   string    `dynamo:"activityTimestamp"`
	ScopeActor string    `dynamo:"chatUser"`
	CreatedAt  time.Time `dynamo:"createdAt"`
}

type messageRow struct {
	Scope     string    `dynamo:"chatId"`
	Seq       int64     `dynamo:"messageId"`
	Actor     int64     `dynamo:"userId"`
	ActorName string    `dynamo:"userName"`
	Text      string    `dynamo:"text"`
	Timestamp int64     `dynamo:"timestamp"`
	Raw       string    `dynamo:"raw"`
	CreatedAt time.Time `dynamo:"createdAt"`
}

type habitRow struct {
	PK      string         `dynamo:"pk"`
	SK      string         `dynamo:"sk"`
	Days    map[string]int `dynamo:"dayOfWeekCounts"`
	Hours   map[string]int `dynamo:"hourOfDayCounts"`
	Total   int            `dynamo:"totalCount"`
	Version int            `dynamo:"version"`
	Recent  []byte         `dynamo:"recent"`
}

type averageRow struct {
	PK      string  `dynamo:"pk"`
	SK      string  `dynamo:"sk"`
	EMA     float64 `dynamo:"ema"`
	Samples int     `dynamo:"samples"`
	Version int     `dynamo:"version"`
	Recent  []byte  `dynamo:"recent"`
}

func (g guregu) markSeen(ctx context.Context) error {
	now := clock()
	row := ledgerRow{Key: "ORDER:4711", SeenAt: now, ExpiresAt: now.Unix() + 14*86400, Source: "ORDER", State: "done", Claim: "0123456789abcdef0123456789abcdef"}
	return g.ledger.Put(row).If("attribute_not_exists('pk') OR 'expiresAt' <= ?", now.Unix()).Run(ctx)
}

func (g guregu) claimAndComplete(ctx context.Context) error {
	now, nonce := clock(), "0123456789abcdef0123456789abcdef"
	var row ledgerRow
	err := g.ledger.Update("pk", "ORDER:4712").
		Set("state", "claimed").Set("claim", nonce).Set("lease", now.UnixMilli()).Set("expiresAt", now.Unix()).Set("source", "ORDER").
		Set("fingerprint", []byte("0123456789abcdef0123456789abcdef")).
		SetExpr("'fence' = if_not_exists('fence', ?) + ?", now.UnixMilli(), 1).Add("attempts", 1).SetIfNotExists("seenAt", now).
		If("attribute_not_exists('pk') OR 'state' = ? OR 'lease' <= ?", "failed", now.UnixMilli()).Value(ctx, &row)
	if err != nil {
		return err
	}
	return g.ledger.Update("pk", "ORDER:4712").
		Set("state", "done").Set("result", `"receipt 4712"`).Set("expiresAt", now.Unix()).Remove("lease", "lastError").
		If("'claim' = ? AND 'fence' = ? AND 'state' = ?", nonce, row.Fence, "claimed").Run(ctx)
}

func (g guregu) take(ctx context.Context) error {
	var row counterRow
	entry := "e_" + happen.String()
	return g.counters.Update("chatId", "-100123").Range("date", tzclock.Stockholm.Date(noon).String()).
		Set(entry, "1~0123456789a").Set("updatedAt", clock()).Set("ttl", clock().Unix()).Add("count", 1).Add("recorded", 1).
		If("attribute_not_exists($) AND 'count' <= ?", entry, 2).OnlyUpdatedValue(ctx, &row)
}

func (g guregu) count(ctx context.Context) error {
	var row counterRow
	return g.counters.Get("chatId", "-100123").Range("date", dynamo.Equal, "2026-05-11").Consistent(true).
		Project("count", "recorded", "updatedAt", "ttl").One(ctx, &row)
}

func (g guregu) record(ctx context.Context) error {
	row := activityRow{
		Scope: "-100123", ID: happen.String(), Actor: 42, ActorName: "Ann", Seq: 4711, Timestamp: noon.UnixMilli(), Kind: "chore", Name: "dishes",
		Effort: 1.5, Confidence: 0.9, NameTime: "dishes#" + strconv.FormatInt(noon.UnixMilli(), 10), ScopeActor: "-100123#42", CreatedAt: clock(),
	}
	return g.activities.Put(row).If("attribute_not_exists('activityId')").Run(ctx)
}

func (g guregu) activities20(ctx context.Context) error {
	var rows []activityRow
	err := g.activities.Get("chatId", "full").Range("activityId", dynamo.Between, "0", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ").
		Order(dynamo.Descending).Limit(20).All(ctx, &rows)
	return counted(len(rows), err)
}

func (g guregu) save(ctx context.Context) error {
	row := messageRow{Scope: "-100123", Seq: 4711, Actor: 42, ActorName: "Ann", Text: "done", Timestamp: noon.UnixMilli(), Raw: `{"text":"done"}`, CreatedAt: clock()}
	return g.messages.Put(row).If("attribute_not_exists('chatId')").Run(ctx)
}

func (g guregu) messages20(ctx context.Context) error {
	var rows []messageRow
	err := g.messages.Get("chatId", "full").Range("messageId", dynamo.Between, 1, int64(1<<62)).Limit(20).All(ctx, &rows)
	return counted(len(rows), err)
}

func (g guregu) last(ctx context.Context) error {
	var rows []activityRow
	return g.activities.Get("chatId", "full").Index("chatId-activity-index").
		Range("activityTimestamp", dynamo.Between, "dishes#0000000000000", "dishes#9999999999999").
		Order(dynamo.Descending).Limit(1).All(ctx, &rows)
}

func (g guregu) confirm(ctx context.Context) error {
	return g.rows.Update("pk", "ALIAS#full").Range("sk", "the dishes").
		Set("type", "ALIAS").Set("confirmedBy", happen.String()).Set("updatedAt", clock()).Add("confirmations", 1).
		If("'canonicalActivity' = ? AND (attribute_not_exists('confirmedBy') OR 'confirmedBy' < ?)", "dishes", happen.String()).Run(ctx)
}

func (g guregu) observe(ctx context.Context) error {
	var row habitRow
	if err := g.rows.Get("pk", "PATTERN#full#42").Range("sk", dynamo.Equal, "dishes").Consistent(true).One(ctx, &row); err != nil {
		return err
	}
	row.Days["mon"]++
	row.Hours["14"]++
	return g.rows.Update("pk", row.PK).Range("sk", row.SK).
		Set("dayOfWeekCounts", row.Days).Set("hourOfDayCounts", row.Hours).Set("totalCount", row.Total+1).Set("version", row.Version+1).
		Set("type", "PATTERN").Set("recent", append(row.Recent, happen[:]...)).Set("updatedAt", clock()).Set("lastSeen", noon).
		If("'version' = ?", row.Version).Run(ctx)
}

func (g guregu) learn(ctx context.Context) error {
	var row averageRow
	if err := g.rows.Get("pk", "EFFORT#42").Range("sk", dynamo.Equal, "dishes").Consistent(true).One(ctx, &row); err != nil {
		return err
	}
	return g.rows.Update("pk", row.PK).Range("sk", row.SK).
		Set("ema", row.EMA*0.8+1.5*0.2).Set("samples", row.Samples+1).Set("version", row.Version+1).
		Set("type", "EFFORT").Set("recent", append(row.Recent, happen[:]...)).Set("updatedAt", clock()).
		If("'version' = ?", row.Version).Run(ctx)
}
