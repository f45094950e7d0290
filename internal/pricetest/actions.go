package pricetest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
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

// rightsOf returns the rights that a request needs: the operation, on its table or
// index, or on each of its tables. A transaction has no action of its own.
func rightsOf(input any) (all []right) {
	if in, ok := input.(*dynamodb.TransactWriteItemsInput); ok {
		return rightsOfActions(in.TransactItems)
	}
	in := reflect.ValueOf(input).Elem()
	action := strings.TrimSuffix(in.Type().Name(), "Input")
	if items := in.FieldByName("RequestItems"); items.IsValid() {
		for _, table := range items.MapKeys() {
			all = append(all, right{table.String(), "", action})
		}
		return all
	}
	return []right{{textOf(in, "TableName"), textOf(in, "IndexName"), action}}
}

// textOf returns a field, "" if the struct does not have it.
func textOf(of reflect.Value, field string) string {
	if at := of.FieldByName(field); at.IsValid() {
		return aws.ToString(at.Interface().(*string))
	}
	return ""
}

// rightsOfActions returns those of a transaction: each item has one of Put, Update,
// Delete and ConditionCheck.
func rightsOfActions(items []types.TransactWriteItem) (all []right) {
	for _, item := range items {
		for field, value := range reflect.ValueOf(item).Fields() {
			if value.Kind() == reflect.Pointer && !value.IsNil() {
				all = append(all, right{textOf(value.Elem(), "TableName"), "", field.Name + "Item"})
			}
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

// granted are sorted actions, by what has them and the index: a call, or a holder.
type granted map[string][]string

func (g granted) grant(to, index string, actions ...string) {
	key := strings.TrimSpace(to + " " + index)
	g[key] = slices.Compact(slices.Sorted(slices.Values(append(g[key], actions...))))
}

func (g granted) grantAll(to string, grants schema.Grants) {
	for index, actions := range grants {
		g.grant(to, index, actions...)
	}
}

// wantActions compares the stores' Actions with what the functions sent, call by
// call, and with the list in the package's doc comment. It compares what each
// function sent with what its source can send.
func wantActions(t *testing.T, sent map[string]*record, never granted, stores []schema.Store) {
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

	needs, has, held, operations, source := granted{}, granted{}, granted{}, granted{}, granted{}
	for fn, r := range sent {
		for one := range r.rights {
			if isOf(one.table, stores) { // work in a transaction may add actions on other tables
				needs.grant(callOf(fn), one.index, one.action)
			}
		}

		operations.grant(callOf(fn), "", slices.Collect(maps.Keys(r.operations))...)
		for _, operation := range never[callOf(fn)] {
			if r.operations[operation] || !slices.Contains(reach[fn], operation) {
				t.Errorf("%s: %s is sent, or the source does not reach it: Never is wrong", fn, operation)
			}
			operations.grant(callOf(fn), "", operation)
		}

		source.grant(callOf(fn), "", reach[fn]...)
	}

	by := map[string]bool{} // the operators' calls, and whether the service makes them, too
	for _, store := range stores {
		actions := store.Actions()
		for call, grants := range actions.Calls {
			has.grantAll(call, grants)
			held.grantAll(service, grants)
		}
		for call, grants := range actions.Operators {
			has.grantAll(call, grants)
			held.grantAll(operators, grants)
			by[call] = actions.Calls[call] != nil
		}
	}

	doc := actionsDoc(t)
	for _, compared := range []struct {
		what      string
		want, got any
	}{
		{"operations that the source of a call can send (-), and those that its cases send (+); a case that is Beyond the priced ones shows the others", source, operations},
		{"rights that each call needs (-), and those in Actions (+)", needs, has},
		{"rights in Actions (-), and those in the doc comment (+)", held, doc.granted},
		{"the operators' calls in Actions, and whether the service makes them, too (-), and in the doc comment (+)", by, doc.operators},
	} {
		if diff := cmp.Diff(compared.want, compared.got); diff != "" {
			t.Errorf("%s:\n%s", compared.what, diff)
		}
	}
}

// callOf is the name of a function in Actions: Take of Store.Take.
func callOf(fn string) string { return fn[strings.LastIndex(fn, ".")+1:] }

func isOf(table string, stores []schema.Store) bool {
	return table == "" || slices.ContainsFunc(stores, func(s schema.Store) bool { return s.Table().Name == table })
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

func actionsDoc(t *testing.T) documented {
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
