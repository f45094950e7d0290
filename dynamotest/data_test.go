package dynamotest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleOpenServer() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "dynamotest")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for range 2 { // the second time, the table exists
		srv, err := dynamotest.OpenServer(filepath.Join(folder, "orders.data"), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(srv.Tables())
		_ = schema.Create(ctx, srv.Client(), orders("orders"))
		if err := srv.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// []
	// [orders]
}

func open(t *testing.T, file string, cfg *dynamotest.Config) *dynamotest.Server {
	t.Helper()
	srv, err := dynamotest.OpenServer(file, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// busy makes every kind of change to a server once.
func busy(t *testing.T, srv *dynamotest.Server) {
	t.Helper()
	ctx, db := t.Context(), srv.Client()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(nil, schema.Create(ctx, db, orders("orders")))
	for i := range 4 {
		must(nil, put(ctx, db, "orders", order("ann", i)))
	}
	must(db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: orderKey("ann", 0)}))
	must(db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: orderKey("ann", 1), UpdateExpression: aws.String("SET note = :n, expiresAt = :e"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberS{Value: "two\nlines"}, ":e": &types.AttributeValueMemberN{Value: "1800000000"}},
	}))
	must(db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
		{PutRequest: &types.PutRequest{Item: order("bo", 1)}}, {DeleteRequest: &types.DeleteRequest{Key: orderKey("ann", 2)}},
	}}}))
	must(db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("orders"), Item: order("cy", 1)}}, {Put: &types.Put{TableName: aws.String("orders"), Item: order("cy", 2)}},
	}}))
	must(nil, srv.Load(strings.NewReader(everySetting)))
	must(nil, srv.LoadItems("orders", strings.NewReader(`{"Item":{"customer":{"S":"di"},"number":{"N":"1"}}}`)))
	arn := "arn:aws:dynamodb:us-east-1:123456789012:table/orders"
	must(db.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: &arn, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}, {Key: aws.String("l"), Value: aws.String("w")}}}))
	must(db.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"k"}}))
	must(db.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("every"), DeletionProtectionEnabled: aws.Bool(false)}))
	must(nil, schema.Create(ctx, db, orders("gone")))
	must(db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("gone")}))
	must(db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("orders"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}))
}

// described is the reply of DescribeTable, with creation time and id.
func described(t *testing.T, srv *dynamotest.Server, table string) string {
	t.Helper()
	out, err := srv.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(*out.Table.TableId, *out.Table.CreationDateTime, *out.Table.ItemCount, *out.Table.TableSizeBytes, aws.ToString(out.Table.LatestStreamArn))
}

func TestAServerOpensAsItWasClosed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	now := time.Unix(1_800_000_100, 0)
	cfg := &dynamotest.Config{Now: func() time.Time { return now }}
	srv := open(t, file, cfg)
	busy(t, srv)
	if n := srv.ExpireTTL(); n != 1 {
		t.Errorf("%d expired", n)
	}
	want, orders, every := dump(t, srv), described(t, srv, "orders"), described(t, srv, "every")
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Error("a closed server answers")
	}
	for range 2 {
		srv = open(t, file, cfg)
		if diff := cmp.Diff(want, dump(t, srv)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(orders+every, described(t, srv, "orders")+described(t, srv, "every")); diff != "" {
			t.Error(diff)
		}
		// The token still belongs to its transaction.
		_, err := srv.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: aws.String("orders"), Key: orderKey("cy", 1)}},
		}})
		if code := errorCode(err); code != "IdempotentParameterMismatchException" {
			t.Errorf("the token: %s", code)
		}
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func fileSize(t *testing.T, file string) int {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// line is a line of the file.
// line is a line with a checksum. From format 3 on, its text begins with its number.
func line(text string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)), text)
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "data")
	srv := open(t, file, nil)
	busy(t, srv)
	if _, err := dynamotest.OpenServer(file, nil); err == nil || !strings.Contains(err.Error(), "or a server of this one that is not closed") {
		t.Errorf("opened twice: %v", err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(content, '\n') + 1
	third := second + bytes.IndexByte(content[second:], '\n') + 1
	lines := slices.Collect(bytes.Lines(content))
	last := len(lines)
	next := fmt.Sprint(last+1, " ")
	damaged := func(at int) []byte {
		out := bytes.Clone(content)
		out[at] ^= 1
		return out
	}
	for i, tt := range []struct {
		content []byte
		want    string
	}{
		{damaged(third + 20), fmt.Sprintf("other 0: damaged in line 3, at byte %d: its checksum is another, and ", third)},
		{damaged(third), "other 1: damaged in line 3, at byte "},
		{damaged(len(content) - 3), "its checksum is another; nothing was changed"},
		{damaged(third - 1), fmt.Sprintf("other 3: damaged in line 2, at byte %d: ", second)}, // two lines become one
		{append(bytes.Clone(content[:third]), content[second+5:]...), "damaged in line 3, at byte"},
		{bytes.Join(slices.Delete(slices.Clone(lines), last-2, last-1), nil), fmt.Sprintf("other 5: damaged in line %d, at byte %d: it was written as line %d, so lines before it are missing; nothing", last-1, len(content)-len(lines[last-1])-len(lines[last-2]), last)},
		{[]byte("the text of another program\n"), "other 6: not a data file of dynamotest"},
		{[]byte("x"), "not a data file"},
		{[]byte("dynamotest journal 4\n"), "a later version of dynamotest wrote it: its format is 4, and this one reads up to 3"},
		{append(bytes.Clone(content), line(next+`[{"At":1,"Teleport":{}}]`)...), fmt.Sprintf("at byte %d: unknown member \"Teleport\"", len(content))},
		{append(bytes.Clone(content), line(next+`[{"At":1,"Changes":[{"Table":"none","Delete":{}}]}]`)...), `a change of table "none", which is not there`},
	} {
		other := filepath.Join(folder, fmt.Sprint("other ", i))
		if err := os.WriteFile(other, tt.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dynamotest.OpenServer(other, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want … %s …", err, tt.want)
		}
		if left, err := os.ReadFile(other); err != nil || !bytes.Equal(left, tt.content) {
			t.Errorf("%s: the file was changed", tt.want)
		}
	}
	if _, err := dynamotest.OpenServer(filepath.Join(folder, "from"), &dynamotest.Config{From: dynamotest.NewServer(nil).Snapshot()}); err == nil {
		t.Error("a snapshot and a file")
	}
}

// A file of the first format is read, and converted to the present one.
func TestAFileOfTheFirstFormat(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	old := "dynamotest journal 1\n" +
		line(`[{"At":1774785600000000000,"Op":"CreateTable","Request":"{\"TableName\":\"plain\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}"}]`) +
		line(`[{"At":1774785601000000000,"Changes":[{"Table":"plain","Put":{"id":{"S":"a"}}}]},{"At":1774785601000000000,"Changes":[{"Table":"plain","Put":{"id":{"S":"b"}}}]}]`) +
		line(`[{"At":1774785602000000000,"Changes":[{"Table":"plain","Delete":{"id":{"S":"a"}}}]}]`)
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		srv := open(t, file, nil)
		if got := dump(t, srv); !strings.HasSuffix(got, "}\n{\"Item\":{\"id\":{\"S\":\"b\"}}}\n") {
			t.Error(got)
		}
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(content), "dynamotest journal 3\n") || strings.Contains(string(content), "Request") {
			t.Errorf("%v: %s", err, content)
		}
	}
}

// grow writes 5 MB to the file; nearly all of it is obsolete at the end.
func grow(t *testing.T, srv *dynamotest.Server) {
	t.Helper()
	large := order("ann", 1)
	large["note"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 100_000)}
	for range 50 {
		if _, err := srv.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: large}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkShrunk fails the test unless the file was compacted while it grew; Close has
// waited for that. At least its first megabyte is gone then. The size of the rest
// depends on the scheduler: writes during a compaction stay.
func checkShrunk(t *testing.T, file string) {
	t.Helper()
	if size := fileSize(t, file); size > 4_500_000 {
		t.Errorf("%d bytes after 5,000,000 obsolete ones", size)
	}
}

// A compaction removes the obsolete part, while the file is used and when it is
// opened. The file keeps its permissions, and a link to it stays a link.
func TestTheFileIsCompacted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, link := filepath.Join(folder, "data"), filepath.Join(folder, "link")
	for name, content := range map[string]string{file: "", file + ".compacting": "dynamotest journal 2\n12345678 [what a crash left"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// More than the process's umask allows.
	if err := os.Chmod(file, 0o622); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	srv := open(t, link, nil)
	if _, err := os.Stat(file + ".compacting"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash left: %v", err)
	}
	busy(t, srv)
	grow(t, srv)
	want := dump(t, srv)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	checkShrunk(t, file)
	srv = open(t, link, nil)
	if size := fileSize(t, file); size >= 1<<20 {
		t.Errorf("%d bytes after it was opened", size)
	}
	if diff := cmp.Diff(want, dump(t, srv)); diff != "" {
		t.Error(diff)
	}
	if _, err := dynamotest.OpenServer(file, nil); err == nil || !strings.Contains(err.Error(), "or a server of this one that is not closed") {
		t.Errorf("opened twice after it was replaced: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o622 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

// Concurrent writers share their flushes, and no write is lost.
func TestManyWritersOfOneFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	srv := open(t, file, nil)
	if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 20 {
				if err := put(t.Context(), srv.Client(), "orders", order(fmt.Sprint(w), i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, open(t, file, nil).Client(), "orders"); n != 320 {
		t.Errorf("%d rows", n)
	}
}

func TestADataFileCannotGoBack(t *testing.T) {
	t.Parallel()
	srv := open(t, filepath.Join(t.TempDir(), "data"), nil)
	defer func() {
		if recover() == nil {
			t.Error("restored")
		}
		if _, err := srv.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Errorf("and then: %v", err)
		}
	}()
	srv.Restore(srv.Snapshot())
}

// A write that changes nothing is not read back.
func TestWritesThatChangeNothing(t *testing.T) {
	t.Parallel()
	ctx, file, name := t.Context(), filepath.Join(t.TempDir(), "data"), aws.String("orders")
	srv, err := dynamotest.OpenServer(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := srv.Client()
	if err := schema.Create(ctx, db, orders(*name)); err != nil {
		t.Fatal(err)
	}
	if err := put(ctx, db, *name, order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	absent, there := orderKey("bo", 1), orderKey("ann", 1)
	if _, err := db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: absent}); err != nil {
		t.Error(err)
	}
	if _, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		*name: {{DeleteRequest: &types.DeleteRequest{Key: absent}}},
	}}); err != nil {
		t.Error(err)
	}
	check := func(key map[string]types.AttributeValue, condition string) types.TransactWriteItem {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: name, Key: key, ConditionExpression: &condition}}
	}
	if _, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		check(absent, "attribute_not_exists(customer)"),
		check(there, "attribute_exists(customer)"),
		{Delete: &types.Delete{TableName: name, Key: orderKey("cy", 1)}},
	}}); err != nil {
		t.Error(err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if got := count(t, open(t, file, nil).Client(), *name); got != 1 {
		t.Errorf("%d items came back, want 1", got)
	}
}

// A closed server answers with an error that the SDK does not retry.
func TestAClosedServerIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	srv := open(t, filepath.Join(t.TempDir(), "data"), nil)
	db := srv.Client()
	if err := schema.Create(t.Context(), db, orders("orders")); err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	for _, write := range []bool{true, false} {
		var err error
		cost := srv.Tap().Meter(func() {
			if write {
				err = put(t.Context(), db, "orders", order("ann", 1))
			} else {
				_, err = db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: orderKey("ann", 1)})
			}
		})
		if errorCode(err) != "ServerClosed" || !strings.Contains(err.Error(), "the server is closed") || cost.Requests != 1 {
			t.Errorf("got %v after %v", err, cost)
		}
	}
}

// The file stays where it was made, even if the working folder, or the link that
// it was opened by, changes.
func TestAFileBehindALinkIsMade(t *testing.T) {
	folder := t.TempDir() // not in parallel, because the working folder is global
	t.Chdir(folder)
	elsewhere := t.TempDir()
	file := filepath.Join(elsewhere, "file")
	if err := os.Symlink(file, "link"); err != nil { // its target does not exist yet
		t.Fatal(err)
	}
	srv := open(t, "link", nil)
	if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(elsewhere)
	grow(t, srv)
	if err := put(t.Context(), srv.Client(), "orders", order("bo", 1)); err != nil {
		t.Fatal(err)
	}
	want := dump(t, srv)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	checkShrunk(t, file)
	if info, err := os.Lstat(filepath.Join(folder, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info, err)
	}
	if diff := cmp.Diff(want, dump(t, open(t, file, nil))); diff != "" {
		t.Error(diff)
	}
}

// If FILE.compacting exists and is not left over from a compaction, it is
// somebody's file: the server does not open. If it appears later, the file is not
// compacted.
func TestSomebodysFileInTheWayOfTheNext(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path, other string) error{
		"a file":   func(path, _ string) error { return os.WriteFile(path, []byte("of worth"), 0o600) },
		"a link":   func(path, other string) error { return os.Symlink(other, path) },
		"a folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file, other := filepath.Join(folder, "data"), filepath.Join(folder, "other")
			if err := os.WriteFile(other, []byte("dynamotest journal 3\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			srv := open(t, file, nil)
			if err := put(file+".compacting", other); err != nil {
				t.Fatal(err)
			}
			there, err := os.Lstat(file + ".compacting")
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
				t.Fatal(err)
			}
			grow(t, srv)
			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := dynamotest.OpenServer(file, nil); err == nil || !strings.Contains(err.Error(), "data.compacting is in the way of the next file: not a ") {
				t.Errorf("opened: %v", err)
			}
			if left, err := os.Lstat(file + ".compacting"); err != nil || !os.SameFile(there, left) || left.Size() != there.Size() {
				t.Errorf("it was there, and now: %v, %v", left, err)
			}
			if content, err := os.ReadFile(other); err != nil || string(content) != "dynamotest journal 3\n" {
				t.Errorf("the other: %.20q, %v", content, err)
			}
		})
	}
}

// A server whose file was removed returns an error, instead of writing to a file
// without a name.
func TestAFileThatIsTakenAway(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	srv, err := dynamotest.OpenServer(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, file+".old"); err != nil {
		t.Fatal(err)
	}
	once := srv.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	if err := schema.Create(t.Context(), once, orders("orders")); err == nil || !strings.Contains(err.Error(), "reads too, until the server is opened again: it was moved, removed or replaced while it was open") {
		t.Errorf("a table is made: %v", err)
	}
	if err := srv.Close(); err == nil {
		t.Error("closed without an error")
	}
}

func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{t.TempDir(), os.DevNull, ""} {
		if _, err := dynamotest.OpenServer(name, nil); err == nil {
			t.Errorf("%q is opened", name)
		}
	}
	if _, err := dynamotest.OpenServer(os.DevNull, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
}
