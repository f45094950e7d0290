package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// orders is a store of a service's own.
type orders struct{}

func (orders) Table() schema.Table {
	return schema.Table{
		Name:    "orders",
		Key:     schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")},
		Indexes: []schema.Index{{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}}},
	}
}

func (orders) Actions() schema.Actions {
	return schema.Actions{
		Calls: map[string]schema.Grants{
			"Place": {"": {"PutItem"}},
			"Get":   {"": {"GetItem"}},
			"OfDay": {"by-day": {"Query"}},
		},
		Operators: map[string]schema.Grants{"All": {"": {"Scan"}}, "Get": {"": {"GetItem"}}},
	}
}

func ExamplePolicy() {
	doc, err := schema.Policy(orders{})
	if err != nil {
		log.Fatal(err)
	}
	doc, err = doc.In("aws", "eu-north-1", "123456789012") // without: for CloudFormation
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range doc.Statement {
		text, err := json.Marshal(statement)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
	// Output:
	// {"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:PutItem"],"Resource":["arn:aws:dynamodb:eu-north-1:123456789012:table/orders"]}
	// {"Effect":"Allow","Action":["dynamodb:Query"],"Resource":["arn:aws:dynamodb:eu-north-1:123456789012:table/orders/index/by-day"]}
}

// The rights are those that Diff uses, on the tables alone, and Merge's errors its own.
func TestDescribePolicy(t *testing.T) {
	t.Parallel()
	key := schema.Key{Partition: schema.String("id")}
	doc, err := schema.DescribePolicy(schema.Table{Name: "orders", Key: key}, schema.Table{Name: "carts", Key: key}, schema.Table{Name: "orders", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	var want []schema.Statement
	for _, table := range []schema.ARN{"orders", "carts"} {
		want = append(want, schema.Statement{
			Action:   []string{"dynamodb:DescribeContinuousBackups", "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive"},
			Resource: []schema.ARN{table},
		})
	}
	wantStatements(t, doc, err, want...)
	_, err = schema.DescribePolicy()
	recordtest.WantBad(t, err, "schema", "tables")
	_, err = schema.DescribePolicy(schema.Table{Name: "orders", Key: key}, schema.Table{Name: "orders", Key: schema.Key{Partition: schema.Number("id")}})
	recordtest.WantBad(t, err, "schema", "table orders")
}

// other is a store whose table and actions the test gives.
type other struct {
	table   schema.Table
	actions schema.Actions
}

func (o other) Table() schema.Table     { return o.table }
func (o other) Actions() schema.Actions { return o.actions }

// on is a store of the table messages, which has the index by-user. It has one call
// for a service and one for operators, if they have grants.
func on(name string, service, operators schema.Grants) other {
	o := other{table: table(name), actions: schema.Actions{Calls: map[string]schema.Grants{"Serve": service}}}
	if operators != nil {
		o.actions.Operators = map[string]schema.Grants{"Repair": operators}
	}
	return o
}

const plain = "arn:aws:dynamodb:eu-north-1:123456789012:table/"

// wantStatements compares a policy with plain ARNs behind "table/".
func wantStatements(t *testing.T, doc schema.PolicyDocument, err error, want ...schema.Statement) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	doc, err = doc.In("aws", "eu-north-1", "123456789012")
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].Effect = "Allow"
		for j, name := range want[i].Resource {
			want[i].Resource[j] = plain + name
		}
	}
	if diff := cmp.Diff(schema.PolicyDocument{Version: "2012-10-17", Statement: want}, doc); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Stores that share a table share a statement, and their order changes nothing.
// What is granted alike is one statement, but only of one table.
func TestPolicyOfASharedTable(t *testing.T) {
	t.Parallel()
	stores := []schema.Store{
		on("shop", schema.Grants{"": {"UpdateItem", "GetItem"}}, schema.Grants{"": {"BatchWriteItem"}}),
		on("shop-log", schema.Grants{"": {"PutItem"}}, nil),
		on("shop", schema.Grants{"": {"Query", "GetItem"}, "by-user": {"Query"}}, schema.Grants{"": {"Scan"}}),
	}
	for range 2 {
		doc, err := schema.Policy(stores...)
		wantStatements(
			t, doc, err,
			schema.Statement{Action: []string{"dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"}, Resource: []schema.ARN{"shop"}},
			schema.Statement{Action: []string{"dynamodb:Query"}, Resource: []schema.ARN{"shop/index/by-user"}},
			schema.Statement{Action: []string{"dynamodb:PutItem"}, Resource: []schema.ARN{"shop-log"}},
		)
		doc, err = schema.OperatorPolicy(stores...)
		wantStatements(t, doc, err, schema.Statement{Action: []string{"dynamodb:BatchWriteItem", "dynamodb:Scan"}, Resource: []schema.ARN{"shop"}})
		stores[0], stores[2] = stores[2], stores[0]
	}
	reads := schema.Grants{"": {"Query"}, "by-user": {"Query"}}
	doc, err := schema.Policy(on("log", reads, nil), on("shop", reads, nil))
	wantStatements(
		t, doc, err,
		schema.Statement{Action: []string{"dynamodb:Query"}, Resource: []schema.ARN{"log", "log/index/by-user"}},
		schema.Statement{Action: []string{"dynamodb:Query"}, Resource: []schema.ARN{"shop", "shop/index/by-user"}},
	)
}

// Only grants the calls that it names, also those of operators, to whomever.
func TestOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy func(...schema.Store) (schema.PolicyDocument, error)
		calls  []string
		want   []string
	}{
		"of both":                    {schema.Policy, []string{"Get", "Place"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		"a service's, for operators": {schema.OperatorPolicy, []string{"Place"}, []string{"dynamodb:PutItem"}},
	} {
		doc, err := tc.policy(schema.Only(orders{}, tc.calls...))
		t.Log(name)
		wantStatements(t, doc, err, schema.Statement{Action: tc.want, Resource: []schema.ARN{"orders"}})
	}
	for _, policy := range []func(...schema.Store) (schema.PolicyDocument, error){schema.Policy, schema.OperatorPolicy} {
		_, err := policy(on("log", schema.Grants{"": {"PutItem"}}, schema.Grants{"": {"Scan"}}), schema.Only(orders{}, "Get", "place"))
		recordtest.WantBad(t, err, "schema", "Actions of table orders")
		if err == nil || !strings.Contains(err.Error(), `"place"`) {
			t.Errorf("%v does not name the call", err)
		}
		_, err = policy(schema.Only(nil, "Get"), schema.Only((*orders)(nil), "Get"))
		recordtest.WantBad(t, err, "schema", "stores")
		_, err = policy(schema.Only(orders{}))
		recordtest.WantBad(t, err, "schema", "stores")
	}
}

// A call of both may need other actions of a service than of operators. Only keeps
// the calls that it was given.
func TestOnlyOfBoth(t *testing.T) {
	t.Parallel()
	both := other{table("log"), schema.Actions{
		Calls:     map[string]schema.Grants{"Trim": {"": {"DeleteItem"}}, "Put": {"": {"PutItem"}}},
		Operators: map[string]schema.Grants{"Trim": {"": {"Scan"}}, "Erase": {"": {"BatchWriteItem"}}},
	}}
	calls := []string{"Trim", "Put", "Erase"}
	only := schema.Only(both, calls...)
	clear(calls)
	doc, err := schema.Policy(only)
	wantStatements(t, doc, err, schema.Statement{
		Action: []string{"dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem"}, Resource: []schema.ARN{"log"},
	})
	doc, err = schema.OperatorPolicy(schema.Only(only, "Trim", "Put", "Erase"))
	wantStatements(t, doc, err, schema.Statement{
		Action: []string{"dynamodb:BatchWriteItem", "dynamodb:PutItem", "dynamodb:Scan"}, Resource: []schema.ARN{"log"},
	})
}

func TestPolicyRefuses(t *testing.T) {
	t.Parallel()
	reads := schema.Grants{"": {"Query"}}
	another := on("shop", reads, nil)
	another.table.Key.Sort = schema.String("sk")
	unnamed := on("a b", reads, nil)
	for field, stores := range map[string][]schema.Store{
		"stores":                {on("shop", schema.Grants{"": nil}, reads)},
		"table":                 {unnamed},
		"table shop":            {on("shop", reads, nil), another},
		"Actions of table shop": {on("shop", schema.Grants{"": {"TransactWriteItems"}}, nil)},
		"Actions of table logs": {on("logs", reads, schema.Grants{"": {"Querry"}})}, // nobody asks for these
		"Actions of table byte": {on("byte", schema.Grants{"by-usr": {"Query"}}, nil)},
		"Actions of table byre": {on("byre", schema.Grants{"by-user": {"GetItem"}}, nil)},
	} {
		doc, err := schema.Policy(stores...)
		recordtest.WantBad(t, err, "schema", field)
		if len(doc.Statement) > 0 {
			t.Errorf("%s: got %v", field, doc)
		}
	}
	if _, err := schema.Policy(); err == nil {
		t.Error("a policy of nothing")
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	doc, err := schema.Policy(on("log", schema.Grants{"": {"PutItem"}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for want, account := range map[schema.ARN][3]string{
		"arn:aws:dynamodb:*:123456789012:table/log": {"aws", "*", "123456789012"},
	} {
		got, err := doc.In(account[0], account[1], account[2])
		if err != nil || got.Statement[0].Resource[0] != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
	for field, account := range map[string][3]string{
		"partition": {"aws:", "eu-north-1", "123456789012"},
		"region":    {"aws", "", "123456789012"},
		"account":   {"aws", "eu-north-1", "1234"},
	} {
		_, err := doc.In(account[0], account[1], account[2])
		recordtest.WantBad(t, err, "schema", field)
	}
	if text, err := json.Marshal(doc.Statement[0].Resource); err != nil || string(text) != `[{"Fn::Sub":"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/log"}]` {
		t.Errorf("In changed the policy it is of: %s, %v", text, err)
	}
}

// The rights of a service, by the calls that it makes, and those of its operators.
func ExampleOnly() {
	db := dynamotest.NewServer(nil).Client()
	limits, err1 := counter.New(db, "limits", tzclock.UTC, nil)
	seen, err2 := ledger.New(db, "seen", nil)
	service, err3 := schema.Policy(schema.Only(limits, "Take"), schema.Only(seen, "Do"))
	operators, err4 := schema.OperatorPolicy(limits, seen)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		log.Fatal(err)
	}
	for _, s := range slices.Concat(service.Statement, operators.Statement) {
		_, table, _ := strings.Cut(string(s.Resource[0]), ":table/")
		fmt.Println(table, s.Action)
	}
	// Output:
	// limits [dynamodb:UpdateItem]
	// seen [dynamodb:GetItem dynamodb:UpdateItem]
	// limits [dynamodb:BatchWriteItem dynamodb:Query]
	// seen [dynamodb:DeleteItem dynamodb:GetItem dynamodb:Scan dynamodb:UpdateItem]
}
