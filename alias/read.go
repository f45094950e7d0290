package alias

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// All returns the aliases of a scope, ordered by phrase, from the cache or by a
// read. The read is eventually consistent, except after writes of this Store: see
// [Config].CacheTTL.
//
// Price: 1 request, 0.5 RCU. If the scope's book is not in memory, each 4 KB of
// the book (about 18 seeds) costs 0.5 RCU, and each MB takes 1 request. If the
// book is in memory, All takes 0 requests. A consistent read costs twice the
// RCU.
func (s *Store) All(ctx context.Context, scope string) ([]Alias, error) {
	b, err := s.book(ctx, "All", scope, false)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.aliases), nil
}

// Refresh is All with a consistent read instead of the cache. While the book
// stays in memory, Resolve and Match then see what Refresh read, or more.
//
// Price: 1 request, 1 RCU. Each 4 KB of the book costs 1 RCU, and each MB takes
// 1 request.
func (s *Store) Refresh(ctx context.Context, scope string) ([]Alias, error) {
	b, err := s.book(ctx, "Refresh", scope, true)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.aliases), nil
}

// Resolve returns what a phrase stands for, and false if that is nothing. It accepts
// any spelling with the same normal form. To find several phrases in a text, see Match.
//
// Price: 1 request, 0.5 RCU. Resolve costs as much as [Store.All]: 0 requests
// if the scope's book is in memory, also for a phrase that is not in the book.
func (s *Store) Resolve(ctx context.Context, scope, phrase string) (Alias, bool, error) {
	normal, err := Normalize(phrase)
	if err != nil {
		return Alias{}, false, err
	}
	b, err := s.book(ctx, "Resolve", scope, false)
	if err != nil {
		return Alias{}, false, err
	}
	a, ok := b.find(normal)
	return a, ok, nil
}

// Get returns what a phrase stands for, and false if that is nothing. It reads the
// phrase's item consistently, without the cache.
//
// Price: 1 request, 1 RCU.
func (s *Store) Get(ctx context.Context, scope, phrase string) (Alias, bool, error) {
	p, err := s.place(scope, phrase)
	if err != nil {
		return Alias{}, false, check.Positional(err)
	}

	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: p.key(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Alias{}, false, s.wrap("Get", err)
	}

	r, err := decode(scope, out.Item)
	if err != nil {
		return Alias{}, false, s.wrap("Get", err)
	}

	return r.Alias, r.named(), nil
}

// PhrasesOf returns the aliases that stand for a name, ordered by phrase. It
// reads the index, which lags behind the table a little and cannot be read
// consistently. So after a write, filter the result of Refresh instead.
//
// Price: 1 request, 0.5 RCU. Each 4 KB of the aliases costs 0.5 RCU, and each
// MB takes 1 request.
func (s *Store) PhrasesOf(ctx context.Context, scope, name string) ([]Alias, error) {
	_, partition, err := s.partitions(scope)
	if err := cmp.Or(err, check.SortKey(pkg, "name", name)); err != nil {
		return nil, check.Positional(err)
	}

	rows, err := s.rows(ctx, scope, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String(index),
		KeyConditionExpression:    aws.String("#gsi1pk = :pk AND #gsi1sk = :name"),
		ExpressionAttributeNames:  item.Names(attrIndexPK, attrIndexSK),
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition), ":name": item.S(name)},
	})
	if err != nil {
		return nil, s.wrap("PhrasesOf", err)
	}

	var found []Alias
	for _, r := range rows {
		if r.named() { // it can be read
			found = append(found, r.Alias)
		}
	}

	// Entries with the same index key have no defined order.
	slices.SortFunc(found, func(a, b Alias) int { return cmp.Compare(a.Phrase, b.Phrase) })
	return found, nil
}

// book is the content of a scope's partition, prepared for questions. It is
// shared and never changed.
type book struct {
	read    time.Time        // when
	entries map[string]Alias // by phrase; without a Name if it was forgotten or cannot be read
	aliases []Alias          // those with a Name, by phrase
	lengths []int            // of their phrases, in bytes, longest first
}

// newBook makes a book of a scope's rows, which are ordered by phrase.
func newBook(rows []row, read time.Time) *book {
	b := &book{read: read, entries: map[string]Alias{}}
	lengths := map[int]bool{}
	for _, r := range rows {
		b.entries[r.Phrase] = r.Alias
		if r.named() {
			b.aliases = append(b.aliases, r.Alias)
			lengths[len(r.Phrase)] = true
		}
	}
	b.lengths = slices.SortedFunc(maps.Keys(lengths), func(a, b int) int { return b - a })
	return b
}

// find returns the alias of a phrase that stands for a name.
func (b *book) find(phrase string) (Alias, bool) {
	a := b.entries[phrase]
	if a.Name == "" {
		return Alias{}, false
	}
	return a, true
}

// book returns the scope's book to the method that asks for it.
func (s *Store) book(ctx context.Context, op, scope string, refresh bool) (*book, error) {
	if _, _, err := s.partitions(scope); err != nil {
		return nil, check.Positional(err)
	}
	b, err := s.cache.get(ctx, scope, refresh)
	return b, s.wrap(op, err)
}

// fetch reads a scope's partition. Several methods may wait for one read, so
// its errors do not name a method.
func (s *Store) fetch(ctx context.Context, scope string, consistent bool) (*book, error) {
	partition, _, err := s.partitions(scope)
	if err != nil {
		return nil, err
	}

	read := s.cfg.Now()
	rows, err := s.rows(ctx, scope, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  item.Names(attrPK),
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition)},
		ConsistentRead:            aws.Bool(consistent),
	})
	if err != nil {
		return nil, err
	}

	return newBook(rows, read), nil
}

// rows reads the rows that a query finds. One that cannot be read ends the query,
// unless Config.OnUnreadable is set.
func (s *Store) rows(ctx context.Context, scope string, in *dynamodb.QueryInput) (rows []row, _ error) {
	err := s.items(ctx, in, func(it ddb.Item) error {
		r, err := decode(scope, it)
		if err != nil && s.cfg.OnUnreadable == nil {
			return err
		}
		if err != nil {
			s.cfg.OnUnreadable(err)
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// items reads all pages, until each returns an error.
func (s *Store) items(ctx context.Context, in *dynamodb.QueryInput, each func(ddb.Item) error) error {
	for {
		out, err := s.api.Query(ctx, in)
		if err != nil {
			return err
		}

		for _, it := range out.Items {
			if err := each(it); err != nil {
				return err
			}
		}

		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}

		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
