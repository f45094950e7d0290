package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// argsVariable makes the test binary run as the command, with these arguments,
// one a line.
const argsVariable = "DYNAMOTEST_ARGS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(argsVariable); ok {
		os.Args = append([]string{"dynamotest"}, strings.Split(args, "\n")...)
		main()
	}
	os.Exit(m.Run())
}

// A process is a run of the command.
type process struct {
	cmd    *exec.Cmd
	client *dynamodb.Client
	kill   func() // as kill -9 does
}

// start runs the command on the file.
func start(t *testing.T, file string, args ...string) process {
	t.Helper()
	cmd := command(append([]string{"-addr", "127.0.0.1:0", "-data", file}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("the command said %q, %v", line, err)
	}
	return process{cmd, dynamotest.Connect(url, soon), kill}
}

// soon makes the client retry at once. It must retry, because the SDK may close a
// connection while it reads a long answer (aws-sdk-go-v2 issue 2737). That is rare
// twice in a row, and a transaction keeps its token when it is sent again.
func soon(o *dynamodb.Options) {
	o.RetryMaxAttempts = 5
	o.Retryer = retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
}

// lastYear returns a time in seconds that DynamoDB accepts as an expiry.
func lastYear() int64 { return time.Now().AddDate(-1, 0, 0).Unix() }

// A writer moves units between two accounts and counts its acknowledged moves.
type writer struct {
	name          string
	acked, unsure int // moves; unsure ones were sent and not answered
}

func (w *writer) account(side string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: w.name + side}}
}

// weight makes the file grow, so that it is compacted every now and then.
var weight = &types.AttributeValueMemberS{Value: strings.Repeat("x", 40_000)}

// move takes one from one account and puts it into the other, both or none.
func (w *writer) move(ctx context.Context, db *dynamodb.Client) error {
	add := func(side, n string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("accounts"), Key: w.account(side), UpdateExpression: aws.String("ADD #n :n SET #w = :w"),
			ExpressionAttributeNames:  map[string]string{"#n": "n", "#w": "weight"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: n}, ":w": weight},
		}}
	}
	_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{add("-from", "-1"), add("-to", "1")}})
	return err
}

func (w *writer) balance(ctx context.Context, db *dynamodb.Client, side string) (n int, err error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("accounts"), Key: w.account(side), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return 0, err
	}
	if v, ok := out.Item["n"].(*types.AttributeValueMemberN); ok {
		_, err = fmt.Sscan(v.Value, &n)
	}
	return n, err
}

// check fails the test unless every acknowledged move took effect, no move took
// effect by half, and no others took effect than those that were sent.
func (w *writer) check(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	from, err := w.balance(t.Context(), db, "-from")
	if err != nil {
		t.Fatal(err)
	}
	to, err := w.balance(t.Context(), db, "-to")
	if err != nil {
		t.Fatal(err)
	}
	if from != -to || to < w.acked || to > w.acked+w.unsure {
		t.Errorf("%s: balances %d and %d after %d acknowledged moves and %d without an answer", w.name, from, to, w.acked, w.unsure)
	}
	w.acked, w.unsure = to, 0
}

// The command is killed in the middle of its work, again and again, and every
// other time while it compacts its file: no acknowledged write may be lost.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	writers := []*writer{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}
	draw := rand.New(rand.NewPCG(1, 1))
	compacting := func() bool {
		_, err := os.Stat(file + ".compacting")
		return err == nil
	}
	seen, caught := 0, 0
	for round := range 16 {
		p := start(t, file)
		if compacting() {
			t.Error("what a compaction left is still there after the start")
		}
		if round == 0 {
			createAccounts(t, p.client)
		}
		var all sync.WaitGroup
		moved := make(chan struct{}, 10_000)
		for _, w := range writers {
			w.check(t, p.client)
			all.Go(func() {
				for w.move(t.Context(), p.client) == nil {
					w.acked++
					moved <- struct{}{}
				}
				w.unsure = 1
			})
		}
		for range 1 + draw.IntN(60) {
			<-moved
		}
		if round%2 == 1 {
			for len(moved) < 1000 && !compacting() {
			}
			if compacting() {
				seen++
			}
		}
		p.kill()
		if compacting() {
			caught++
		}
		all.Wait()
	}
	p := start(t, file)
	for _, w := range writers {
		w.check(t, p.client)
	}
	if writers[0].acked == 0 {
		t.Error("nothing was written")
	}
	if caught == 0 {
		t.Errorf("it was killed while it compacted 0 times; %d times it was seen to", seen)
	}
	t.Logf("killed while it compacted: %d times of 16", caught)
}

// createAccounts creates the table with the accounts, and with other items so
// that writing all of them takes time.
func createAccounts(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	_, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("accounts"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("accounts"), Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: fmt.Sprint("still ", i)}, "weight": weight,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}
