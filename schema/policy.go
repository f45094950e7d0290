package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/event"
)

// Store is what a policy is made from: every store of this library, and those of
// your own that say the same of themselves.
type Store interface {
	Table() Table
	Actions() Actions
}

// Actions are what a store's methods need to be granted.
type Actions struct {
	Service   Grants // all methods but the operators'
	Operators Grants // what people run by hand, as the package's doc lists them: Erase, Forget
}

// Grants are IAM actions without "dynamodb:", by what they are on: "" is the
// table, any other key the name of one of its indexes.
//
//	schema.Grants{"": {"PutItem", "Query"}, "by-day": {"Query"}}
//
// A transaction has no action of its own: it needs PutItem, UpdateItem, DeleteItem
// and ConditionCheckItem, each for the writes of that kind in it.
type Grants map[string][]string

// grantable are the actions on items, and whether an index takes them, too.
var grantable = map[string]bool{
	"BatchGetItem": false, "BatchWriteItem": false, "ConditionCheckItem": false, "DeleteItem": false,
	"GetItem": false, "PutItem": false, "Query": true, "Scan": true, "UpdateItem": false,
	"PartiQLDelete": false, "PartiQLInsert": false, "PartiQLSelect": true, "PartiQLUpdate": false,
}

// PolicyDocument is an IAM policy. The same stores, in whatever order, give the
// same JSON.
type PolicyDocument struct {
	Version   string
	Statement []Statement
}

// Statement allows actions on resources.
type Statement struct {
	Effect   string
	Action   []string // with "dynamodb:", sorted
	Resource []ARN    // the table, or those of its indexes that the actions are used on, sorted
}

// ARN names a table or an index. It may have CloudFormation's pseudo parameters in
// it, as ${AWS::Region}, and is then written to JSON as an Fn::Sub.
type ARN string

// MarshalJSON writes a string, or {"Fn::Sub": string}.
func (a ARN) MarshalJSON() ([]byte, error) {
	if strings.Contains(string(a), "${") {
		return json.Marshal(map[string]string{"Fn::Sub": string(a)})
	}
	return json.Marshal(string(a))
}

const version = "2012-10-17" // of IAM's language

const tableARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/"

// Policy returns what a service needs that calls any method of the stores but the
// operators': of each table a statement, and one for those of its indexes that are
// read. Stores may share a table. ARNs have CloudFormation's pseudo parameters; for plain
// ones see [PolicyDocument.In].
//
// It grants no right to make or describe tables, and none on a table's own KMS
// key, which the key's policy gives. What a caller adds to a transaction is the
// caller's to grant, unless it comes from one of the stores.
//
// Actions that IAM does not know, or that an index does not take, and indexes that
// the table's definition does not have, are an [*event.InputError]; so is a policy
// without any action, which IAM would refuse.
func Policy(stores ...Store) (PolicyDocument, error) {
	return policy(stores, func(a Actions) Grants { return a.Service })
}

// OperatorPolicy returns what the operators' methods of the stores need, and
// nothing of the service's. It is otherwise as [Policy].
func OperatorPolicy(stores ...Store) (PolicyDocument, error) {
	return policy(stores, func(a Actions) Grants { return a.Operators })
}

// describing is what [Diff] asks of a table, and [Verify] in part.
var describing = []string{"DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"}

// DescribePolicy returns what [Verify] and [Diff] of the tables need. A service
// that verifies its tables at its start needs it beside [Policy], whose statements it
// may be appended to.
func DescribePolicy(tables ...Table) (PolicyDocument, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return PolicyDocument{}, err
	}
	if len(merged) == 0 {
		return PolicyDocument{}, event.BadInput(pkg, "tables", "must not be empty: IAM takes no empty policy")
	}
	doc := PolicyDocument{Version: version}
	for _, table := range merged {
		doc.allow(ARN(table.arn("")), describing)
	}
	return doc, nil
}

func policy(stores []Store, of func(Actions) Grants) (PolicyDocument, error) {
	tables := make([]Table, len(stores))
	on := map[ARN][]string{} // the actions, by resource
	for i, store := range stores {
		tables[i] = store.Table()
		if err := store.Actions().validate(tables[i]); err != nil {
			return PolicyDocument{}, err
		}
		for index, actions := range of(store.Actions()) {
			resource := tables[i].arn(index)
			on[resource] = append(on[resource], actions...)
		}
	}
	if _, err := Merge(tables...); err != nil {
		return PolicyDocument{}, err
	}
	doc := PolicyDocument{Version: version}
	for _, resource := range slices.SortedFunc(maps.Keys(on), indexesBehindTheirTable) {
		doc.allow(resource, on[resource])
	}
	if len(doc.Statement) == 0 {
		return PolicyDocument{}, event.BadInput(pkg, "stores", "need no actions, and IAM takes no empty policy")
	}
	return doc, nil
}

// arn is that of the table or, if it has a name, of the index.
func (t Table) arn(index string) ARN {
	if index == "" {
		return ARN(tableARN + t.Name)
	}
	return ARN(tableARN + t.Name + "/index/" + index)
}

func indexesBehindTheirTable(a, b ARN) int {
	return cmp.Or(cmp.Compare(a.table(), b.table()), cmp.Compare(a, b))
}

// allow adds a statement, or the resource to that of the same table and actions.
func (d *PolicyDocument) allow(resource ARN, actions []string) {
	if len(actions) == 0 {
		return
	}
	s := Statement{Effect: "Allow", Resource: []ARN{resource}}
	for _, action := range slices.Compact(slices.Sorted(slices.Values(actions))) {
		s.Action = append(s.Action, "dynamodb:"+action)
	}
	at := slices.IndexFunc(d.Statement, func(have Statement) bool {
		return slices.Equal(have.Action, s.Action) && have.Resource[0].table() == resource.table()
	})
	if at < 0 {
		d.Statement = append(d.Statement, s)
		return
	}
	d.Statement[at].Resource = append(d.Statement[at].Resource, resource)
}

// table is the ARN of the table whose index it may be.
func (a ARN) table() ARN {
	table, _, _ := strings.Cut(string(a), "/index/")
	return ARN(table)
}

func (a Actions) validate(t Table) error {
	for _, grants := range []Grants{a.Service, a.Operators} {
		for _, index := range slices.Sorted(maps.Keys(grants)) {
			if index != "" && !slices.ContainsFunc(t.Indexes, func(i Index) bool { return i.Name == index }) {
				return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("name the index %q, which its definition does not have", index))
			}
			for _, action := range grants[index] {
				onIndex, known := grantable[action]
				switch {
				case !known:
					return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("name %q, which is no action of IAM's on items", action))
				case index != "" && !onIndex:
					return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("name %s on index %s, which takes reads alone", action, index))
				}
			}
		}
	}
	return nil
}

// Account is where tables are.
type Account struct {
	Partition string // "" is "aws"; "aws-cn", "aws-us-gov"
	Region    string // "eu-north-1", or "*" for all
	ID        string // twelve digits
}

var (
	partitions = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	regions    = regexp.MustCompile(`^([a-z]+(-[a-z]+)+-\d+|\*)$`)
	accounts   = regexp.MustCompile(`^\d{12}$`)
)

// In returns the policy with plain ARNs, for those who do not deploy by
// CloudFormation.
func (d PolicyDocument) In(a Account) (PolicyDocument, error) {
	a.Partition = cmp.Or(a.Partition, "aws")
	for _, part := range []struct {
		field, value string
		form         *regexp.Regexp
	}{
		{"Account.Partition", a.Partition, partitions},
		{"Account.Region", a.Region, regions},
		{"Account.ID", a.ID, accounts},
	} {
		if !part.form.MatchString(part.value) {
			return PolicyDocument{}, event.BadInput(pkg, part.field, fmt.Sprintf("is not valid in an ARN: %q", part.value))
		}
	}
	plain := strings.NewReplacer("${AWS::Partition}", a.Partition, "${AWS::Region}", a.Region, "${AWS::AccountId}", a.ID)
	d.Statement = slices.Clone(d.Statement)
	for i, s := range d.Statement {
		d.Statement[i].Resource = make([]ARN, len(s.Resource))
		for j, arn := range s.Resource {
			d.Statement[i].Resource[j] = ARN(plain.Replace(string(arn)))
		}
	}
	return d, nil
}
