package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// A tableMaker makes random requests for tables and changes of them. Not all of
// them are allowed.
type tableMaker struct {
	*rand.Rand
	name string
}

// Attributes, with the types that keys give them.
const (
	attributes     = "abcdefgh"
	attributeTypes = "SNBSNSBN"
)

func (m tableMaker) one(of ...string) string { return of[m.IntN(len(of))] }

// maybe returns the text, or nothing with a chance of one half.
func (m tableMaker) maybe(format string, args ...any) string {
	if m.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (m tableMaker) units(read, write string) string {
	return fmt.Sprintf(`{"%s":%d,"%s":%d}`, read, 1+m.IntN(9), write, 1+m.IntN(9))
}

func (m tableMaker) provisioned() string {
	return `"ProvisionedThroughput":` + m.units("ReadCapacityUnits", "WriteCapacityUnits")
}

func (m tableMaker) limits() string {
	return m.maybe(`,"OnDemandThroughput":%s`, m.units("MaxReadRequestUnits", "MaxWriteRequestUnits")) +
		m.maybe(`,"WarmThroughput":%s`, m.units("ReadUnitsPerSecond", "WriteUnitsPerSecond"))
}

func (m tableMaker) projection() string {
	return m.one(`"Projection":{"ProjectionType":"ALL"}`, `"Projection":{"ProjectionType":"KEYS_ONLY"}`, `"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]}`)
}

func keySchemaOf(hash, rng string) string {
	var out []string
	for _, a := range hash {
		out = append(out, fmt.Sprintf(`{"AttributeName":"%c","KeyType":"HASH"}`, a))
	}
	for _, a := range rng {
		out = append(out, fmt.Sprintf(`{"AttributeName":"%c","KeyType":"RANGE"}`, a))
	}
	return `"KeySchema":[` + strings.Join(out, ",") + `]`
}

func definitionsOf(used string) string {
	var out []string
	for i, a := range attributes {
		if strings.ContainsRune(used, a) {
			out = append(out, fmt.Sprintf(`{"AttributeName":"%c","AttributeType":"%c"}`, a, attributeTypes[i]))
		}
	}
	return `"AttributeDefinitions":[` + strings.Join(out, ",") + `]`
}

// global returns an index with up to four attributes of each type, and the
// attributes used.
func (m tableMaker) global(name string, onDemand bool) (definition, used string) {
	var names string
	for _, i := range m.Perm(len(attributes)) {
		names += attributes[i : i+1]
	}
	hash, rng := names[:1+m.IntN(4)], names[4:4+m.IntN(5)]
	throughput := ""
	if !onDemand {
		throughput = "," + m.provisioned()
	}
	return fmt.Sprintf(`{"IndexName":"%s",%s,%s%s%s}`, name, keySchemaOf(hash, rng), m.projection(), throughput, m.limits()), hash + rng
}

func (m tableMaker) create() string {
	used, rng := "a", ""
	if m.IntN(3) > 0 {
		rng = "b"
	}
	var local, global []string
	for i := range m.IntN(3) {
		if rng != "" {
			second := attributes[2+m.IntN(5):][:1]
			used += second
			local = append(local, fmt.Sprintf(`{"IndexName":"local%d",%s,%s}`, i, keySchemaOf("a", second), m.projection()))
		}
	}
	onDemand := m.IntN(2) == 0
	for i := range m.IntN(4) {
		definition, more := m.global(fmt.Sprint("global", i), onDemand)
		used += more
		global = append(global, definition)
	}
	body := fmt.Sprintf(`{"TableName":"%s",%s,%s`, m.name, keySchemaOf("a", rng), definitionsOf(used+rng))
	if onDemand {
		body += `,"BillingMode":"PAY_PER_REQUEST"`
	} else {
		body += "," + m.provisioned() + m.maybe(`,"BillingMode":"PROVISIONED"`)
	}
	if local != nil {
		body += `,"LocalSecondaryIndexes":[` + strings.Join(local, ",") + `]`
	}
	if global != nil {
		body += `,"GlobalSecondaryIndexes":[` + strings.Join(global, ",") + `]`
	}
	return body + m.limits() + m.maybe(`,"DeletionProtectionEnabled":true`) + m.maybe(`,"TableClass":"STANDARD_INFREQUENT_ACCESS"`) +
		m.maybe(`,"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"alias/key"}`) + m.maybe(`,"Tags":[{"Key":"k","Value":"å\t+"}]`) +
		m.maybe(`,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"%s"}`, m.one("KEYS_ONLY", "NEW_AND_OLD_IMAGES")) + "}"
}

// update returns one change of the table's settings.
func (m tableMaker) update() step {
	table := func(format string, args ...any) string {
		return fmt.Sprintf(`{"TableName":"%s",`, m.name) + fmt.Sprintf(format, args...) + "}"
	}
	index := fmt.Sprint("global", m.IntN(4))
	arn := fmt.Sprintf("arn:aws:dynamodb:us-east-1:123456789012:table/%s", m.name)
	definition, used := m.global(index, m.IntN(2) == 0)
	switch m.IntN(11) {
	case 0:
		return step{"UpdateTable", table(`"BillingMode":"PAY_PER_REQUEST"`)}
	case 1:
		return step{"UpdateTable", table(`"BillingMode":"PROVISIONED",%s`, m.provisioned())}
	case 2:
		return step{"UpdateTable", table(`"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"%s",%s}}]`, index, m.provisioned())}
	case 3:
		return step{"UpdateTable", table(`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"%s"}}]`, index)}
	case 4:
		return step{"UpdateTable", table(`%s,"GlobalSecondaryIndexUpdates":[{"Create":%s}]`, definitionsOf(used), definition)}
	case 5:
		return step{"UpdateTable", table(`"StreamSpecification":{"StreamEnabled":%s}`, m.one("false", `true,"StreamViewType":"NEW_IMAGE"`))}
	case 6:
		return step{"UpdateTable", table(`"DeletionProtectionEnabled":%s,"TableClass":"%s"%s`, m.one("true", "false"), m.one("STANDARD", "STANDARD_INFREQUENT_ACCESS"), m.limits())}
	case 7:
		return step{"UpdateTimeToLive", table(`"TimeToLiveSpecification":{"AttributeName":"x","Enabled":%s}`, m.one("true", "false"))}
	case 8:
		return step{"UpdateContinuousBackups", table(`"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":%s,"RecoveryPeriodInDays":%d}`, m.one("true", "false"), 1+m.IntN(35))}
	case 9:
		return step{"TagResource", fmt.Sprintf(`{"ResourceArn":"%s","Tags":[{"Key":"%s","Value":"v"}]}`, arn, m.one("k", "l"))}
	}
	return step{"UntagResource", fmt.Sprintf(`{"ResourceArn":"%s","TagKeys":["%s"]}`, arn, m.one("k", "l"))}
}

// write puts or deletes an item. An attribute that is not a key yet may have
// any type.
func (m tableMaker) write() step {
	value := func(kind byte) string {
		switch kind {
		case 'S':
			return fmt.Sprintf(`{"S":"%s"}`, m.one("", "é", "two\nlines"))
		case 'N':
			return fmt.Sprintf(`{"N":"%d"}`, m.IntN(3))
		}
		return fmt.Sprintf(`{"B":"%s"}`, m.one("", "AAE=", "/w=="))
	}
	item := fmt.Sprintf(`"a":{"S":"%d"},"b":{"N":"%d"}`, m.IntN(4), m.IntN(4))
	if m.IntN(4) == 0 {
		return step{"DeleteItem", fmt.Sprintf(`{"TableName":"%s","Key":{%s}}`, m.name, item)}
	}
	for i, a := range attributes[2:] {
		kind := attributeTypes[2+i]
		if m.IntN(8) == 0 {
			kind = m.one("S", "N", "B")[0]
		}
		item += m.maybe(`,"%c":%s`, a, value(kind))
	}
	return step{"PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{%s%s}}`, m.name, item, m.maybe(`,"x":{"N":"1800000000"}`))}
}

// several returns writes of one request. Some of them change nothing.
func (m tableMaker) several() step {
	key := func(i int) string {
		return fmt.Sprintf(`{"TableName":"%s","Key":{"a":{"S":"%d"},"b":{"N":"%d"}}`, m.name, i, m.IntN(4))
	}
	var actions []string
	for i := range 1 + m.IntN(4) {
		actions = append(actions, m.one(
			`{"Delete":`+key(i)+`}}`,
			`{"ConditionCheck":`+key(i)+`,"ConditionExpression":"attribute_not_exists(x)"}}`,
			`{"Update":`+key(i)+`,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"x"}}}}`,
			`{"Update":`+key(i)+`,"UpdateExpression":"REMOVE none"}}`))
	}
	return step{"TransactWriteItems", `{"TransactItems":[` + strings.Join(actions, ",") + `]` + m.maybe(`,"ClientRequestToken":"%d"`, m.IntN(1000)) + `}`}
}

// randomTables gives an engine a random history, and returns how many of its
// steps were allowed.
func randomTables(e *Engine, seed uint64) (allowed int) {
	for i := range 3 {
		m := tableMaker{rand.New(rand.NewPCG(seed, uint64(i))), fmt.Sprint("table", i)}
		steps := []step{{"CreateTable", m.create()}}
		for range 60 {
			switch m.IntN(8) {
			case 0, 1, 2:
				steps = append(steps, m.update())
			case 3:
				steps = append(steps, m.several())
			default:
				steps = append(steps, m.write())
			}
		}
		for _, s := range steps {
			if s.do(e) {
				allowed++
			}
		}
	}
	return allowed
}

// asked returns what an engine answers to requests about everything.
func asked(t *testing.T, e *Engine) string {
	t.Helper()
	var out strings.Builder
	ask := func(op, body string) []byte {
		res := e.Do(context.Background(), op, []byte(body))
		if res.Err != nil {
			t.Fatalf("%s %s: %v", op, body, res.Err)
		}
		fmt.Fprintf(&out, "%s %s\n%s\n", op, body, res.Body)
		return res.Body
	}
	for _, name := range e.Tables() {
		var described struct {
			Table struct {
				TableArn                                      string
				LocalSecondaryIndexes, GlobalSecondaryIndexes []struct{ IndexName string }
			}
		}
		table := fmt.Sprintf(`{"TableName":"%s"}`, name)
		if err := json.Unmarshal(ask("DescribeTable", table), &described); err != nil {
			t.Fatal(err)
		}
		ask("DescribeTimeToLive", table)
		ask("DescribeContinuousBackups", table)
		ask("ListTagsOfResource", fmt.Sprintf(`{"ResourceArn":"%s"}`, described.Table.TableArn))
		ask("Scan", table)
		for _, x := range append(described.Table.LocalSecondaryIndexes, described.Table.GlobalSecondaryIndexes...) {
			ask("Scan", fmt.Sprintf(`{"TableName":"%s","IndexName":"%s"}`, name, x.IndexName))
		}
	}
	return out.String()
}

// passing matches what a dump does not have: times, and what is derived from
// them or from the number of a table.
var passing = regexp.MustCompile(`"(TableId|LatestStreamArn|LatestStreamLabel)":"[^"]*",?|"[A-Za-z]*DateTime":[0-9.]*,?`)

// The latest restorable time is the time of the request.
var restorable = regexp.MustCompile(`"LatestRestorableDateTime":[0-9.]*`)

// A stream that has ended is not part of a dump, so neither is its name.
func withoutTimes(answers string) string {
	return strings.ReplaceAll(passing.ReplaceAllString(answers, ""), ",}", "}")
}

// A dump of any tables is loaded as they were, except for times. A data file has
// everything, including times and streams.
func TestTablesAreKeptWhole(t *testing.T) {
	t.Parallel()
	allowed, unindexed := 0, 0
	for seed := range uint64(150) {
		e := New(Options{Now: ticking()})
		allowed += randomTables(e, seed)
		var dump, again bytes.Buffer
		if err := e.Snapshot().Dump(&dump); err != nil {
			t.Fatal(err)
		}
		unindexed += strings.Count(dump.String(), `"Unindexed":true`)
		loaded := New(Options{Now: ticking()})
		if err := loaded.Load(bytes.NewReader(dump.Bytes())); err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, &dump)
		}
		if diff := cmp.Diff(withoutTimes(asked(t, e)), withoutTimes(asked(t, loaded))); diff != "" {
			t.Fatalf("seed %d, loaded: %s", seed, diff)
		}
		if err := loaded.Snapshot().Dump(&again); err != nil || again.String() != dump.String() {
			t.Fatalf("seed %d, dumped again: %v, %s", seed, err, cmp.Diff(dump.String(), again.String()))
		}
		var file bytes.Buffer
		if _, err := journal.WriteFile(&file, e.state.write); err != nil {
			t.Fatal(err)
		}
		opened := onModel(holding(file.Bytes()), ticking())
		if err := opened.OpenJournal("data"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		exact := func(e *Engine) string { return restorable.ReplaceAllString(asked(t, e), "") }
		if diff := cmp.Diff(exact(e)+whole(t, e), exact(opened)+whole(t, opened)); diff != "" {
			t.Fatalf("seed %d, opened: %s", seed, diff)
		}
	}
	if allowed < 10000 || unindexed < 100 {
		t.Errorf("%d steps were allowed, %d items are older than an index: too few to prove something", allowed, unindexed)
	}
}

// A history of any requests is read back as it happened, even with requests that
// changed nothing or were refused.
func TestRandomHistoriesAreReadBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		m := newModel()
		e := onModel(m, ticking())
		e.opt.CompactFrom = 1 << 30
		if err := e.OpenJournal("data"); err != nil {
			t.Fatal(err)
		}
		randomTables(e, seed)
		again := onModel(m.crash(image{}, nil), ticking())
		if err := again.OpenJournal("data"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(whole(t, e), whole(t, again)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}
