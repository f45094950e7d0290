// Package names gives the attributes and indexes of a record type other names
// in a table. The code of the packages has only the names of FORMAT.md: a
// [Client] translates requests and replies, and what callers put into requests
// of their own is translated by the other functions.
package names

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
)

// Names are those of one table. A nil *Names changes none, at no cost.
type Names struct {
	stored  map[string]string // in the table, by the name in FORMAT.md: of renamed attributes
	format  map[string]string // the other way round
	indexes map[string]string // as stored
}

// New checks the Config.Names of a package: the new names, by those of FORMAT.md. No new
// name may begin with one of the prefixes, which are those of attributes that have no names
// in FORMAT.md.
func New(pkg string, given map[string]string, attributes, indexes []string, prefixes ...string) (*Names, error) {
	n := &Names{stored: map[string]string{}, format: map[string]string{}, indexes: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		field, as, valid := fmt.Sprintf("Config.Names[%q]", name), given[name], check.Attribute
		switch {
		case as == name && slices.Contains(slices.Concat(attributes, indexes), name): // as it is
		case slices.Contains(attributes, name):
			n.stored[name], n.format[as] = as, name
		case slices.Contains(indexes, name):
			n.indexes[name], valid = as, check.Index
		default:
			all := strings.Join(slices.Concat(attributes, indexes), ", ")
			return nil, event.BadInput(pkg, field, "must be a name of FORMAT.md, which is given the table's: one of "+all)
		}

		err := valid(pkg, field, as)
		for _, prefix := range prefixes {
			err = cmp.Or(err, check.Refuse(pkg, field, strings.HasPrefix(as, prefix), "must not begin with "+prefix+", because other attributes of a row begin with it"))
		}
		if err != nil {
			return nil, err
		}
	}

	if len(n.stored) == 0 && len(n.indexes) == 0 {
		return nil, nil
	}
	return n, cmp.Or(distinct(pkg, "attribute", attributes, n.stored), distinct(pkg, "index", indexes, n.indexes))
}

// distinct refuses a new name that another attribute, or another index, has already.
func distinct(pkg, what string, all []string, renamed map[string]string) error {
	taken := map[string]string{}
	for _, name := range all {
		if _, ok := renamed[name]; !ok {
			taken[name] = name
		}
	}

	for _, name := range slices.Sorted(maps.Keys(renamed)) {
		as := renamed[name]
		if other, twice := taken[as]; twice {
			return event.BadInput(pkg, fmt.Sprintf("Config.Names[%q]", name), fmt.Sprintf("must not be %q, which is the name of the %s %s", as, what, other))
		}
		taken[as] = name
	}
	return nil
}

// Attribute is the attribute's name in the table.
func (n *Names) Attribute(name string) string {
	if n == nil {
		return name
	}
	if own, ok := strings.CutPrefix(name, foreign); ok {
		return own
	}
	return of(n.stored, name)
}

// Index is the index's name.
func (n *Names) Index(name string) string {
	if n == nil {
		return name
	}
	return of(n.indexes, name)
}

// of returns the name's replacement, or the name itself if it has none.
func of(names map[string]string, name string) string {
	if other, ok := names[name]; ok {
		return other
	}
	return name
}

// Stored is the row, or a part of it, as it is in the table.
func (n *Names) Stored(row ddb.Item) ddb.Item {
	if n == nil || row == nil {
		return row
	}
	stored := make(ddb.Item, len(row))
	for name, value := range row {
		stored[n.Attribute(name)] = value
	}
	return stored
}

// foreign begins the name of what a table has under a name of FORMAT.md and means
// something else by. No attribute has such a name, because it is not UTF-8.
const foreign = "\xff"

// Read is a row of the table with the names of FORMAT.md. [Names.Stored] is its
// inverse.
func (n *Names) Read(row ddb.Item) ddb.Item {
	if n == nil || row == nil {
		return row
	}

	read := make(ddb.Item, len(row))
	for name, value := range row {
		if known, ok := n.format[name]; ok {
			read[known] = value
		} else if _, renamed := n.stored[name]; renamed {
			read[foreign+name] = value
		} else {
			read[name] = value
		}
	}

	return read
}

func (n *Names) readAll(rows []ddb.Item) []ddb.Item {
	read := make([]ddb.Item, len(rows))
	for i, row := range rows {
		read[i] = n.Read(row)
	}
	return read
}

// nested are the placeholders of entries of a map: their names are the caller's.
var nested = regexp.MustCompile(`\.#\w+`)

// aliases are the placeholders of expressions.
func (n *Names) aliases(names map[string]string, expressions ...*string) map[string]string {
	stored := maps.Clone(names)
	for placeholder, name := range names {
		stored[placeholder] = n.Attribute(name)
	}
	for _, expression := range expressions {
		for _, entry := range nested.FindAllString(aws.ToString(expression), -1) {
			stored[entry[1:]] = names[entry[1:]]
		}
	}
	return stored
}

// TableOf is the definition of a table with two keys and a TTL.
func (n *Names) TableOf(table, partition, sort, ttl string) schema.Table {
	key := schema.Key{Partition: schema.String(partition), Sort: schema.String(sort)}
	return n.Table(schema.Table{Name: table, Key: key, TTL: ttl})
}

// Table is the definition of the table.
func (n *Names) Table(t schema.Table) schema.Table {
	if n == nil {
		return t
	}

	named := func(key schema.Key) schema.Key {
		key.Partition.Name, key.Sort.Name = of(n.stored, key.Partition.Name), of(n.stored, key.Sort.Name)
		return key
	}

	t.Key, t.TTL = named(t.Key), of(n.stored, t.TTL)
	t.Indexes = slices.Clone(t.Indexes)
	for i, index := range t.Indexes {
		t.Indexes[i].Name, t.Indexes[i].Key = n.Index(index.Name), named(index.Key)
	}

	return t
}

// Actions are grants on the table's indexes.
func (n *Names) Actions(a schema.Actions) schema.Actions {
	if n == nil {
		return a
	}

	for _, calls := range []map[string]schema.Grants{a.Calls, a.Operators} {
		for call, grants := range calls {
			named := schema.Grants{}
			for index, actions := range grants {
				named[n.Index(index)] = actions
			}
			calls[call] = named
		}
	}
	return a
}

// Update is the request of a backfill, which its caller sends.
func (n *Names) Update(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
	if n == nil || in == nil {
		return in
	}
	own := *in
	n.rename(&own.Key, &own.ExpressionAttributeNames)
	return &own
}

// Action is an action of a transaction.
func (n *Names) Action(action types.TransactWriteItem) types.TransactWriteItem {
	if n == nil {
		return action
	}

	if put := action.Put; put != nil {
		action.Put = new(*put)
		n.rename(&action.Put.Item, &action.Put.ExpressionAttributeNames)
	}

	if update := action.Update; update != nil {
		action.Update = new(*update)
		n.rename(&action.Update.Key, &action.Update.ExpressionAttributeNames)
	}

	if check := action.ConditionCheck; check != nil {
		action.ConditionCheck = new(*check)
		n.rename(&action.ConditionCheck.Key, &action.ConditionCheck.ExpressionAttributeNames)
	}

	if del := action.Delete; del != nil {
		action.Delete = new(*del)
		n.rename(&action.Delete.Key, &action.Delete.ExpressionAttributeNames)
	}
	return action
}

// rename gives a key or an item, and the placeholders of expressions, the names of the
// table.
func (n *Names) rename(row *ddb.Item, placeholders *map[string]string, expressions ...*string) {
	*row, *placeholders = n.Stored(*row), n.aliases(*placeholders, expressions...)
}
