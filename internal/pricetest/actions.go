package pricetest

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/schema"
)

// right is a right in IAM: an action on a table, or on an index of a table.
type right struct{ table, index, action string }

// rightsOf returns the rights that a request needs. It knows all operations that
// the packages send. A transaction has no action of its own.
func rightsOf(input any) []right {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return []right{{aws.ToString(in.TableName), "", "GetItem"}}
	case *dynamodb.PutItemInput:
		return []right{{aws.ToString(in.TableName), "", "PutItem"}}
	case *dynamodb.UpdateItemInput:
		return []right{{aws.ToString(in.TableName), "", "UpdateItem"}}
	case *dynamodb.DeleteItemInput:
		return []right{{aws.ToString(in.TableName), "", "DeleteItem"}}
	case *dynamodb.QueryInput:
		return []right{{aws.ToString(in.TableName), aws.ToString(in.IndexName), "Query"}}
	case *dynamodb.ScanInput:
		return []right{{aws.ToString(in.TableName), aws.ToString(in.IndexName), "Scan"}}
	case *dynamodb.BatchGetItemInput:
		var all []right
		for table := range in.RequestItems {
			all = append(all, right{table, "", "BatchGetItem"})
		}
		return all
	case *dynamodb.BatchWriteItemInput:
		var all []right
		for table := range in.RequestItems {
			all = append(all, right{table, "", "BatchWriteItem"})
		}
		return all
	case *dynamodb.TransactWriteItemsInput:
		return rightsOfActions(in.TransactItems)
	}
	return []right{{"", "", fmt.Sprintf("%T, which rightsOf does not know", input)}}
}

func rightsOfActions(items []types.TransactWriteItem) []right {
	var all []right
	for _, item := range items {
		switch {
		case item.Put != nil:
			all = append(all, right{aws.ToString(item.Put.TableName), "", "PutItem"})
		case item.Update != nil:
			all = append(all, right{aws.ToString(item.Update.TableName), "", "UpdateItem"})
		case item.Delete != nil:
			all = append(all, right{aws.ToString(item.Delete.TableName), "", "DeleteItem"})
		case item.ConditionCheck != nil:
			all = append(all, right{aws.ToString(item.ConditionCheck.TableName), "", "ConditionCheckItem"})
		}
	}
	return all
}

// record is what one function sent.
type record struct {
	mu         sync.Mutex
	operations map[string]bool
	rights     map[right]bool
}

func newRecord() *record { return &record{operations: map[string]bool{}, rights: map[right]bool{}} }

func (r *record) add(operation string, rights []right) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if operation != "" {
		r.operations[operation] = true
	}
	for _, one := range rights {
		r.rights[one] = true
	}
}

type recordKey struct{}

// Watch is an option for dynamotest.Open. With it, [Run] sees what the client
// sends.
func Watch(o *dynamodb.Options) {
	o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Watch", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			if r, ok := ctx.Value(recordKey{}).(*record); ok {
				r.add(middleware.GetOperationName(ctx), rightsOf(in.Parameters))
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	})
}

// These say whose rights they are.
const (
	service   = "service"
	operators = "operators"
)

// granted are sorted actions, by their holder and the index.
type granted map[string][]string

func (g granted) grant(whose, index string, actions ...string) {
	key := strings.TrimSpace(whose + " " + index)
	g[key] = slices.Compact(slices.Sorted(slices.Values(append(g[key], actions...))))
}

// wantActions compares the stores' Actions, and the list in the package's doc
// comment, with what the functions sent. It compares what they sent with what their
// source can send.
func wantActions(t *testing.T, sent map[string]*record, stores []schema.Store) {
	t.Helper()
	reach := reachable(t)
	if len(stores) == 0 {
		for fn := range reach {
			if strings.HasSuffix(fn, ".Actions") {
				t.Errorf("%s: Run has no store whose Actions it could compare", fn)
			}
		}
		return
	}
	doc := actionsDoc(t, sent)
	needs, operations, source := granted{}, granted{}, granted{}
	for fn, r := range sent {
		for _, whose := range doc.whose(fn) {
			for one := range r.rights {
				if isOf(one.table, stores) { // work in a transaction may add actions on other tables
					needs.grant(whose, one.index, one.action)
				}
			}
			operations.grant(whose, "", slices.Collect(maps.Keys(r.operations))...)
			source.grant(whose, "", reach[fn]...)
		}
	}
	if diff := cmp.Diff(source, operations); diff != "" {
		t.Errorf("operations that the source can send (-), and those that the cases send (+); a case that is Beyond the priced ones shows the others:\n%s", diff)
	}
	if diff := cmp.Diff(needs, grantedBy(stores)); diff != "" {
		t.Errorf("rights that the calls need (-), and those in Actions (+):\n%s", diff)
	}
	if diff := cmp.Diff(needs, doc.granted); diff != "" {
		t.Errorf("rights that the calls need (-), and those in the doc comment (+):\n%s", diff)
	}
}

func isOf(table string, stores []schema.Store) bool {
	return table == "" || slices.ContainsFunc(stores, func(s schema.Store) bool { return s.Table().Name == table })
}

func grantedBy(stores []schema.Store) granted {
	all := granted{}
	for _, store := range stores {
		for index, actions := range store.Actions().Service {
			all.grant(service, index, actions...)
		}
		for index, actions := range store.Actions().Operators {
			all.grant(operators, index, actions...)
		}
	}
	return all
}

// documented is the section "IAM actions" of a package's doc comment. The section
// is a list with lines such as:
//
//   - The service, on the table: GetItem, Query
//   - The service, on index by-day: Query
//   - Operators (Erase, List; also Get), on the table: Scan
//
// The functions in parentheses are for operators. The service calls those after
// "also", too.
type documented struct {
	granted   granted
	operators map[string]bool // whether the service calls it, too
}

var actionsLine = regexp.MustCompile(`^(?:The (service)|(Operators) \(([^)]*)\)), on (?:the table|index(?:es)? ([^:(]+?))(?: \([^)]*\))?: (.+)$`)

func actionsDoc(t *testing.T, sent map[string]*record) documented {
	t.Helper()
	doc := documented{granted: granted{}, operators: map[string]bool{}}
	for _, text := range actionsLines(t) {
		m := actionsLine.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("IAM actions: %q is not of the form that pricetest reads", text)
			continue
		}
		alone, shared, _ := strings.Cut(m[3], "; also ")
		for _, method := range slices.Concat(list(alone), list(shared)) {
			doc.operators[method] = slices.Contains(list(shared), method)
			if sent["Store."+method] == nil && sent["Rows."+method] == nil {
				t.Errorf("IAM actions: %s is not a method with a case", method)
			}
		}
		indexes := list(m[4])
		if len(indexes) == 0 {
			indexes = []string{""}
		}
		for _, index := range indexes {
			doc.granted.grant(strings.ToLower(m[1]+m[2]), index, list(m[5])...)
		}
	}
	return doc
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

// whose returns whose policy has the rights that the function, such as
// Store.Get, needs.
func (d documented) whose(fn string) []string {
	_, method, _ := strings.Cut(fn, ".")
	too, listed := d.operators[method]
	switch {
	case !listed:
		return []string{service}
	case too:
		return []string{service, operators}
	}
	return []string{operators}
}

// actionsLines returns the items of the list under "IAM actions".
func actionsLines(t *testing.T) []string {
	t.Helper()
	for _, file := range sources(t, ".") {
		_, section, ok := strings.Cut(file.Doc.Text(), "# IAM actions\n")
		if !ok {
			continue
		}
		section, _, _ = strings.Cut(section, "\n# ")
		var lines []string
		for _, item := range strings.Split(section, "\n  - ")[1:] {
			item, _, _ = strings.Cut(item, "\n\n")
			lines = append(lines, strings.Join(strings.Fields(item), " "))
		}
		return lines
	}
	return nil
}

// sources returns the files of a package, without its tests.
func sources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	names, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
