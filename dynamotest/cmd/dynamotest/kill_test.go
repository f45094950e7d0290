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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// serveVariable makes the test binary the command itself.
const serveVariable = "DYNAMOTEST_SERVE_DATA"

func TestMain(m *testing.M) {
	if file := os.Getenv(serveVariable); file != "" {
		os.Args = []string{"dynamotest", "-addr", "127.0.0.1:0", "-data", file}
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the command on the file and returns a client of it, and what kills
// it as kill -9 does.
func start(t *testing.T, file string) (*dynamodb.Client, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"="+file)
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
	client := dynamotest.Connect(url, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	return client, kill
}

// A writer moves units between two accounts and counts its acknowledged moves.
type writer struct {
	name          string
	acked, unsure int // moves; unsure ones were sent and not answered
}

func (w *writer) account(side string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: w.name + side}}
}

// move takes one from one account and puts it into the other, both or none.
func (w *writer) move(ctx context.Context, db *dynamodb.Client) error {
	add := func(side, n string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("accounts"), Key: w.account(side), UpdateExpression: aws.String("ADD #n :n"),
			ExpressionAttributeNames:  map[string]string{"#n": "n"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: n}},
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

// check finds every acknowledged move, no half one, and none that was not sent.
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

// Kill the command in the middle of its work, again and again: nothing that it
// acknowledged may be lost.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	writers := []*writer{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}
	draw := rand.New(rand.NewPCG(1, 1))
	for round := range 15 {
		db, kill := start(t, file)
		if round == 0 {
			_, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
				TableName: aws.String("accounts"), BillingMode: types.BillingModePayPerRequest,
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		enough := make(chan struct{}, 1000)
		for _, w := range writers {
			w.check(t, db)
			all.Go(func() {
				for w.move(t.Context(), db) == nil {
					w.acked++
					select {
					case enough <- struct{}{}:
					default:
					}
				}
				w.unsure = 1
			})
		}
		for range 1 + draw.IntN(120) {
			<-enough
		}
		kill()
		all.Wait()
	}
	db, _ := start(t, file)
	for _, w := range writers {
		w.check(t, db)
	}
	if writers[0].acked == 0 {
		t.Error("nothing was written")
	}
}
