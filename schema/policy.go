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
	"github.com/homeops/ddbpatterns/internal/check"
)

// Store is what a policy is made from. Every store of this library is a Store,
// and so is a type of your own with these two methods.
type Store interface {
	Table() Table
	Actions() Actions
}

// Actions are the IAM actions that a store's calls need, by the name of the call:
// that of a method, such as Take, or of a function that takes the store, such as
// Do. A call that services and operators make has a row in both maps.
//
//	schema.Actions{Calls: map[string]schema.Grants{"Take": {"": {"UpdateItem"}}}}
type Actions struct {
	Calls     map[string]Grants // for a service
	Operators map[string]Grants // for people, who make these calls by hand, such as Erase
}

// Grants are IAM actions, written without "dynamodb:". The key "" holds the
// actions on the table. Any other key is the name of an index of the table, and
// holds the actions on that index.
//
//	schema.Grants{"": {"PutItem", "Query"}, "by-day": {"Query"}}
//
// A transaction has no action of its own. Each Get in it needs GetItem, each Put
// PutItem, each Update UpdateItem, each Delete DeleteItem, and each ConditionCheck
// ConditionCheckItem.
type Grants map[string][]string

// grantable are the actions on items, and whether an index takes them, too.
var grantable = map[string]bool{
	"BatchGetItem": false, "BatchWriteItem": false, "ConditionCheckItem": false, "DeleteItem": false,
	"GetItem": false, "PutItem": false, "Query": true, "Scan": true, "UpdateItem": false,
	"PartiQLDelete": false, "PartiQLInsert": false, "PartiQLSelect": true, "PartiQLUpdate": false,
}

// PolicyDocument is an IAM policy. The same stores, in any order, give the same
// JSON.
type PolicyDocument struct {
	Version   string
	Statement []Statement
}

// Statement allows actions on resources.
type Statement struct {
	Effect   string
	Action   []string // each begins with "dynamodb:"; sorted
	Resource []ARN    // what the actions are used on: the table, its indexes or both; sorted
}

// ARN names a table or an index. It may contain CloudFormation's pseudo
// parameters, such as ${AWS::Region}. Such an ARN is written to JSON as an
// Fn::Sub.
type ARN string

// MarshalJSON writes a string, or {"Fn::Sub": string} if the ARN has "${".
func (a ARN) MarshalJSON() ([]byte, error) {
	if strings.Contains(string(a), "${") {
		return json.Marshal(map[string]string{"Fn::Sub": string(a)})
	}
	return json.Marshal(string(a))
}

const version = "2012-10-17" // of IAM's language

const tableARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/"

// Policy returns what a service needs to make the calls of the stores, except the
// operators' calls. [Only] leaves out the calls that the service does not make. For
// each table, the policy has one statement for each set of actions: usually one for
// the table, and one for those of its indexes that are read. Stores may share a
// table. The ARNs have CloudFormation's pseudo parameters; for plain ARNs see
// [PolicyDocument.In].
//
// Policy does not grant rights to create or describe tables, or to use a table's
// own KMS key: that right is in the key's policy. A transaction may also hold
// writes that do not come from any of the stores: the caller must grant what these
// writes need.
//
// The error is an [*event.InputError] in these cases:
//   - A store is nil, or Only names a call that its store does not have.
//   - A call's Grants are nil, or have an action that IAM does not have for items, an
//     action that an index does not take, or an index that the table's definition lacks.
//   - The definitions of the tables are invalid or contradict each other ([Merge]).
//   - The policy would have no action: IAM refuses such a policy.
func Policy(stores ...Store) (PolicyDocument, error) {
	return policy(stores, func(a Actions) map[string]Grants { return a.Calls })
}

// OperatorPolicy returns what the stores' calls for operators need, and nothing
// else. In all other ways it is like [Policy].
func OperatorPolicy(stores ...Store) (PolicyDocument, error) {
	return policy(stores, func(a Actions) map[string]Grants { return a.Operators })
}

// Only returns the store for a program that makes only these calls, even if they are
// operators' calls. [Policy] and [OperatorPolicy] grant what these calls can send and
// nothing else:
//
//	doc, err := schema.Policy(schema.Only(limits, "Take", "Get"), schema.Only(seen, "Do"))
//
// That may be more than the program sends: Do can be told to read first, and is granted
// the read in any case. For a call in both maps of [Actions], Policy takes Calls and
// OperatorPolicy takes Operators.
//
// A name is that of a method of the store or of what it returns (Take, TakeItem,
// Complete), or of a function that takes the store (Do, DoTx). It is not checked
// here: for a name that the store does not have, both policies return an
// [*event.InputError].
func Only(store Store, calls ...string) Store {
	if check.NotNil(pkg, "store", store) != nil {
		return nil // which the policies refuse
	}
	return only{store, slices.Clone(calls)}
}

type only struct {
	Store
	calls []string
}

func (o only) Actions() Actions {
	all := o.Store.Actions()
	return Actions{Calls: o.pick(all.Calls, all.Operators), Operators: o.pick(all.Operators, all.Calls)}
}

// pick returns the calls' grants, of the second map for a call that the first lacks.
func (o only) pick(from, or map[string]Grants) map[string]Grants {
	some := map[string]Grants{}
	for _, call := range o.calls {
		some[call] = from[call] // nil if unknown, which validate refuses
		if some[call] == nil {
			some[call] = or[call]
		}
	}
	return some
}

// describing is what [Diff] asks of a table, and [Verify] in part.
var describing = []string{"DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"}

// DescribePolicy returns what [Verify] and [Diff] of the tables need. A service
// that calls Verify at its start needs this policy in addition to that of
// [Policy]: append the statements of DescribePolicy to the statements of Policy.
func DescribePolicy(tables ...Table) (PolicyDocument, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return PolicyDocument{}, err
	}
	if len(merged) == 0 {
		return PolicyDocument{}, event.BadInput(pkg, "tables", "must not be empty: IAM does not accept an empty policy")
	}
	doc := PolicyDocument{Version: version}
	for _, table := range merged {
		doc.allow(ARN(table.arn("")), describing)
	}
	return doc, nil
}

// policy is the policy for the calls of the stores that callsOf picks.
func policy(stores []Store, callsOf func(Actions) map[string]Grants) (PolicyDocument, error) {
	tables := make([]Table, len(stores))
	on := map[ARN][]string{} // the actions, by resource
	for i, store := range stores {
		if err := check.NotNil(pkg, "stores", store); err != nil {
			return PolicyDocument{}, err
		}

		tables[i] = store.Table()
		if err := store.Actions().validate(tables[i]); err != nil {
			return PolicyDocument{}, err
		}

		for _, grants := range callsOf(store.Actions()) {
			for index, actions := range grants {
				resource := tables[i].arn(index)
				on[resource] = append(on[resource], actions...) // in any order: allow sorts them
			}
		}
	}

	// Only for its error: stores that share a table must agree on it.
	if _, err := Merge(tables...); err != nil {
		return PolicyDocument{}, err
	}

	doc := PolicyDocument{Version: version}
	for _, resource := range slices.SortedFunc(maps.Keys(on), indexesBehindTheirTable) {
		doc.allow(resource, on[resource])
	}

	if len(doc.Statement) == 0 {
		return PolicyDocument{}, event.BadInput(pkg, "stores", "need no permissions, and IAM does not accept an empty policy")
	}
	return doc, nil
}

// arn returns the ARN of the table or, if index is not "", of the index.
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

// validate refuses a call without grants, and grants that do not fit the table.
func (a Actions) validate(t Table) error {
	for _, calls := range []map[string]Grants{a.Calls, a.Operators} {
		for _, call := range slices.Sorted(maps.Keys(calls)) {
			if calls[call] == nil { // as pick leaves it for an unknown name
				return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("must have grants for the call %q; if Only names it, the store does not have it", call))
			}
			if err := calls[call].validate(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g Grants) validate(t Table) error {
	for _, index := range slices.Sorted(maps.Keys(g)) {
		if index != "" && !slices.ContainsFunc(t.Indexes, func(i Index) bool { return i.Name == index }) {
			return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("must not name the index %q, which the definition of the table does not have", index))
		}
		for _, action := range g[index] {
			onIndex, known := grantable[action]
			switch {
			case !known:
				return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("must not contain %q, which is not an IAM action on the items of a table", action))
			case index != "" && !onIndex:
				return event.BadInput(pkg, "Actions of table "+t.Name, fmt.Sprintf("must not contain %s on index %s, because an index takes only Query, Scan and PartiQLSelect", action, index))
			}
		}
	}
	return nil
}

var (
	partitions = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	regions    = regexp.MustCompile(`^([a-z]+(-[a-z]+)+-\d+|\*)$`)
	accounts   = regexp.MustCompile(`^\d{12}$`)
)

// In returns the policy with plain ARNs, for deployments without CloudFormation. The
// partition is usually "aws". The region may be "*", for all. The account has 12
// digits.
func (d PolicyDocument) In(partition, region, account string) (PolicyDocument, error) {
	for _, part := range []struct {
		field, value string
		form         *regexp.Regexp
		want         string
	}{
		{"partition", partition, partitions, "aws or another partition such as aws-cn"},
		{"region", region, regions, "a region such as eu-north-1, or *"},
		{"account", account, accounts, "12 digits"},
	} {
		if !part.form.MatchString(part.value) {
			return PolicyDocument{}, event.BadInput(pkg, part.field, fmt.Sprintf("must be %s, is %q", part.want, part.value))
		}
	}

	plain := strings.NewReplacer("${AWS::Partition}", partition, "${AWS::Region}", region, "${AWS::AccountId}", account)
	d.Statement = slices.Clone(d.Statement)
	for i, s := range d.Statement {
		d.Statement[i].Resource = make([]ARN, len(s.Resource))
		for j, arn := range s.Resource {
			d.Statement[i].Resource[j] = ARN(plain.Replace(string(arn)))
		}
	}

	return d, nil
}
