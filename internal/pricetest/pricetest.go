// Package pricetest checks the published prices against what calls really cost.
// It reads the Price lines of a package's doc comments and measures a call for
// each.
//
// A line has this form. Pricetest reads its first sentence; the rest is for
// people:
//
//	Price: 2 requests, 1 RCU, 1 WCU. A conflict adds 1 request and 1 WCU.
//
// A method with several prices has one more line for each case, with the case's
// name. They are measured alike:
//
//	Price (ReadFirst): 1 request, 0.5 RCU. A larger row costs 0.5 RCU for each 4 KB.
//
// The price of a function that returns an action for the caller's own
// transaction is that of the action in the transaction. It has no requests of
// its own:
//
//	Price: 0 requests, 2 WCU.
//
// It also compares a store's Actions, call by call, with what these calls send, and
// with the list of IAM actions in the package's doc comment.
package pricetest

import (
	"context"
	"go/ast"
	"regexp"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
)

// Case measures one exported function or method, "Store.Take" or "Do".
type Case struct {
	Func string
	// In names the line that is measured, such as "ReadFirst". For "" it is the
	// line without a name.
	In string
	// Call makes the first, uncontended call on rows up to 1 KB. The test must
	// set up what the call needs beforehand.
	Call func(ctx context.Context) error
	// Actions, in place of Call, returns the actions of the caller's own
	// transaction in one table. Their price is the difference between a
	// transaction with them and one without, and what the function itself sends.
	Actions func() []types.TransactWriteItem
	// Beyond says what this call sends that no priced call does. The call itself is
	// not priced.
	Beyond string
	// Never, in place of Call, is an operation that the source of the function seems
	// to reach, because methods have only their names there, and Why it does not.
	Never string
	// Local is the price that DynamoDB Local is known to report instead, and
	// Why.
	Local *dynamotest.Price
	Why   string
}

// Run parses the package in the current folder and fails for every exported
// function that takes a context and has no Price line or no Case, for every
// Case without a line, and for every call that costs something else.
//
// The stores are those of the calls. The stores' Actions must grant, and the
// package's doc comment must list, exactly what the calls send. For that the
// database must be opened with [Watch].
func Run(t *testing.T, db *dynamotest.DB, cases []Case, stores ...schema.Store) {
	t.Helper()
	published := parse(t)
	sent, never := map[string]*record{}, granted{}
	ran := 0

	for _, c := range cases {
		if c.Never != "" {
			ran++
			never.grant(callOf(c.Func), "", c.Never)
			continue
		}

		r, ok := sent[c.Func]
		if !ok {
			r = newRecord()
			sent[c.Func] = r
		}

		want, ok := published[c.name()]
		if !ok && c.Beyond == "" {
			t.Errorf("%s: has a case and no Price line", c.name())
			continue
		}

		delete(published, c.name())
		t.Run(c.name(), func(t *testing.T) {
			ran++
			cost := c.measure(t, db, &want, r)
			if len(stores) > 0 && cost.Requests > 0 && len(r.rights) == 0 {
				t.Error("nothing is known of what it sent: the database must be opened with Watch")
			}
			if c.Beyond == "" {
				cost.Want(t, want)
			}
		})
	}

	for name := range published {
		t.Errorf("%s: has a Price line and no case", name)
	}

	if ran == len(cases) { // not with only a few cases, by -run
		wantActions(t, sent, never, stores)
	}
}

// measure makes the call, and changes want to what the backend is known to report
// for that price.
func (c Case) measure(t *testing.T, db *dynamotest.DB, want *dynamotest.Price, r *record) dynamotest.Cost {
	t.Helper()
	ctx, call, beside := context.WithValue(t.Context(), recordKey{}, r), c.Call, dynamotest.Price{}
	if c.Actions != nil {
		var actions []types.TransactWriteItem
		making := db.Meter(func() { actions = c.Actions() })
		r.add("", rightsOfActions(actions)) // without TransactWriteItems, which the caller sends
		ctx = t.Context()
		call, beside = transaction(t, db, actions)
		beside.Requests -= making.Requests
		want.RCU -= making.RCU
	}

	var err error
	cost := db.Meter(func() { err = call(ctx) })
	if err != nil {
		t.Fatal(err)
	}

	full := dynamotest.Price{Requests: want.Requests + beside.Requests, RCU: want.RCU, WCU: want.WCU + beside.WCU}
	if c.Local != nil && !db.InProcess() && cost.Price() != full {
		if c.Why == "" {
			t.Error("a difference of DynamoDB Local without its reason")
		}
		*want = *c.Local
	}

	want.Requests, want.WCU = want.Requests+beside.Requests, want.WCU+beside.WCU
	if c.Actions != nil && !db.InProcess() && cost.WCU == 2*want.WCU {
		*want = cost.Price() // for each of the two tables, DynamoDB Local reports the cost of both
	}

	return cost
}

func (c Case) name() string {
	if in := c.In + c.Beyond; in != "" {
		return c.Func + " (" + in + ")"
	}
	return c.Func
}

// transaction returns a call that performs the actions beside a write of its
// own, and what it costs without them.
func transaction(t *testing.T, db *dynamotest.DB, actions []types.TransactWriteItem) (call func(context.Context) error, alone dynamotest.Price) {
	t.Helper()
	client, table := db.Client(), db.Name("beside")
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil && !ddb.InUse(err) { // by an earlier case
		t.Fatal(err)
	}

	write := types.TransactWriteItem{Put: &types.Put{
		TableName: &table, Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "beside"}},
	}}
	return func(ctx context.Context) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: append(actions, write)})
		return err
	}, dynamotest.Price{Requests: 1, WCU: 2}
}

// parse returns the published prices by function, and by case if a line has a
// name.
func parse(t *testing.T) map[string]dynamotest.Price {
	t.Helper()
	published := map[string]dynamotest.Price{}
	for _, file := range sources(t, ".") {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !public(fn) {
				continue
			}
			if _, ok := Parse(fn.Doc.Text()); !ok && takesContext(fn) {
				t.Errorf("%s: takes a context and its doc comment has no Price line", nameOf(fn))
			}
			for in, price := range ParseAll(fn.Doc.Text()) {
				published[Case{Func: nameOf(fn), In: in}.name()] = price
			}
		}
	}

	return published
}

func public(fn *ast.FuncDecl) bool {
	return fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))
}

func receiver(fn *ast.FuncDecl) string {
	kind := fn.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	return kind.(*ast.Ident).Name
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

func takesContext(fn *ast.FuncDecl) bool {
	if len(fn.Type.Params.List) == 0 {
		return false
	}
	kind, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := kind.X.(*ast.Ident)
	return ok && pkg.Name == "context" && kind.Sel.Name == "Context"
}

var line = regexp.MustCompile(`(?m)^Price(?: \((\w+)\))?: (\d+) requests?(?:, ([\d.]+) RCU)?(?:, ([\d.]+) WCU)?[.;]`)

// Parse reads the Price line of a doc comment that has no name.
func Parse(doc string) (dynamotest.Price, bool) {
	price, ok := ParseAll(doc)[""]
	return price, ok
}

// ParseAll reads the Price lines of a doc comment by their names.
func ParseAll(doc string) map[string]dynamotest.Price {
	all := map[string]dynamotest.Price{}
	for _, match := range line.FindAllStringSubmatch(doc, -1) {
		requests, _ := strconv.Atoi(match[2])
		rcu, _ := strconv.ParseFloat(match[3], 64)
		wcu, _ := strconv.ParseFloat(match[4], 64)
		all[match[1]] = dynamotest.Price{Requests: requests, RCU: rcu, WCU: wcu}
	}
	return all
}
