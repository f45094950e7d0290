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

const (
	ofScope = "#pk = :pk"
	ofName  = "#gsi1pk = :pk AND #gsi1sk = :name"
)

var (
	ofScopeNames = item.Names(attrPK)
	ofNameNames  = item.Names(attrIndexPK, attrIndexSK)
)

// All returns the aliases of a scope, ordered by phrase. It takes them from the
// cache or, if the cache does not have the scope, from a read. The read is
// eventually consistent, except in three cases: for [Config].CacheTTL after a
// write of this Store to the scope, after a [Store.Refresh] whose book the
// cache could not keep, and after writes of this Store to more than
// 1,000 scopes within CacheTTL.
//
// Price: 1 request, 0.5 RCU. If the scope's book is not in memory, each 4 KB of
// the book (about 18 seeds) costs 0.5 RCU, and each MB takes 1 request. If the
// book is in memory, All takes 0 requests. A consistent read costs twice the
// RCU.
func (s *Store) All(ctx context.Context, scope string) ([]Alias, error) {
	b, err := s.book(ctx, "All", scope)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.aliases), nil
}

// Refresh is All with a consistent read instead of the cache. The cache then
// has the book that Refresh read, so a later Resolve or Match sees that state
// or a newer one. If a write to the scope or another read of the book came in
// between while Refresh was reading, the cache does not keep the book of
// Refresh, and the next question about the scope reads consistently. With
// [Config].NoCache, no book is kept, and a later Resolve or Match may see an
// older state.
//
// Price: 1 request, 1 RCU. Each 4 KB of the book costs 1 RCU, and each MB takes
// 1 request.
func (s *Store) Refresh(ctx context.Context, scope string) ([]Alias, error) {
	if _, err := s.partition(scope); err != nil {
		return nil, check.Positional(err)
	}
	b, err := s.cache.refresh(ctx, scope)
	if err != nil {
		return nil, s.wrap("Refresh", err)
	}
	return slices.Clone(b.aliases), nil
}

// Resolve returns what a phrase stands for. It accepts any spelling with the
// same normal form. To find several phrases in a text, see Match.
//
// Price: 1 request, 0.5 RCU. Resolve costs as much as [Store.All]: 0 requests
// if the scope's book is in memory, also for a phrase that is not in the book.
func (s *Store) Resolve(ctx context.Context, scope, phrase string) (Alias, bool, error) {
	normal, err := Normalize(phrase)
	if err != nil {
		return Alias{}, false, err
	}
	b, err := s.book(ctx, "Resolve", scope)
	if err != nil {
		return Alias{}, false, err
	}
	found, ok := b.entries[normal]
	return found.Alias, ok, nil
}

// Get returns what a phrase stands for, without the cache. It reads only the
// item of the phrase, and reads it consistently. An older spelling is another
// item, which Get does not find. Resolve finds it, unless an item in normal
// form hides it.
//
// Price: 1 request, 1 RCU.
func (s *Store) Get(ctx context.Context, scope, phrase string) (Alias, bool, error) {
	p, err := s.place(scope, phrase)
	if err != nil {
		return Alias{}, false, check.Positional(err)
	}
	it, err := s.item(ctx, p)
	if err != nil {
		return Alias{}, false, s.wrap("Get", err)
	}
	r, err := s.decode("Get", scope, it)
	if err != nil {
		return Alias{}, false, err
	}
	return r.Alias, r.named(), nil
}

// item reads the item of a place consistently.
func (s *Store) item(ctx context.Context, p place) (ddb.Item, error) {
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: p.key(), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// PhrasesOf returns the aliases that stand for a name, ordered by phrase. It
// reads the index, which lags behind the table a little and cannot be read
// consistently. So after a write, filter the result of Refresh instead.
// PhrasesOf also returns older spellings, even if a row in normal form hides
// them.
//
// Price: 1 request, 0.5 RCU. Each 4 KB of the aliases costs 0.5 RCU, and each
// MB takes 1 request.
func (s *Store) PhrasesOf(ctx context.Context, scope, name string) ([]Alias, error) {
	partition, err := s.indexPartition(scope)
	if err != nil {
		return nil, check.Positional(err)
	}
	if err := check.SortKey(pkg, "name", name); err != nil {
		return nil, err
	}
	var found []Alias
	err = s.query(ctx, scope, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String(index),
		KeyConditionExpression:    aws.String(ofName),
		ExpressionAttributeNames:  ofNameNames,
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition), ":name": item.S(name)},
	}, func(r row) {
		if !r.unreadable {
			found = append(found, r.Alias)
		}
	})
	if err != nil {
		return nil, s.wrap("PhrasesOf", err)
	}
	// Entries with the same index key have no defined order.
	slices.SortFunc(found, func(a, b Alias) int { return cmp.Compare(a.Phrase, b.Phrase) })
	return found, nil
}

// book is the content of a scope's partition, prepared for questions. It is
// shared and never changed.
type book struct {
	read    time.Time        // when
	rows    []row            // by sort key, including forgotten phrases
	known   map[string]bool  // their sort keys
	elders  map[string][]row // by normal form, under older spellings, hidden or not; those with a name first
	aliases []Alias          // by phrase
	entries map[string]entry // by normal form
	lengths []int            // of the normal forms, in bytes, longest first
}

// has reports whether anything is known of the phrase, in any spelling.
func (b *book) has(phrase string) bool {
	return b.known[phrase] || len(b.elders[phrase]) > 0
}

// eldersOf returns the rows of a phrase that has only older spellings. The first
// one's name owns the phrase.
func (b *book) eldersOf(phrase string) []row {
	if b.known[phrase] {
		return nil // the row in normal form hides them, even if it was forgotten
	}
	return b.elders[phrase]
}

// entry is an alias and the normal form of its phrase, which in rows of older
// systems may differ from the sort key.
type entry struct {
	Alias
	normal string
}

// book returns the scope's book to the method that asks for it.
func (s *Store) book(ctx context.Context, op, scope string) (*book, error) {
	if _, err := s.partition(scope); err != nil {
		return nil, check.Positional(err)
	}
	b, err := s.cache.get(ctx, scope)
	return b, s.wrap(op, err)
}

// fetch reads a scope's partition. Several methods may wait for one read, so
// its errors do not name a method.
func (s *Store) fetch(ctx context.Context, scope string, consistent bool) (*book, error) {
	partition, err := s.partition(scope)
	if err != nil {
		return nil, err
	}
	read := s.cfg.Now()
	var rows []row
	err = s.query(ctx, scope, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		KeyConditionExpression:    aws.String(ofScope),
		ExpressionAttributeNames:  ofScopeNames,
		ExpressionAttributeValues: ddb.Item{":pk": item.S(partition)},
		ConsistentRead:            aws.Bool(consistent),
	}, func(r row) { rows = append(rows, r) })
	if err != nil {
		return nil, err
	}
	return newBook(rows, read), nil
}

// newBook makes a book of the rows, which it sorts.
func newBook(rows []row, read time.Time) *book {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.Phrase, b.Phrase) })
	b := &book{read: read, rows: rows, known: map[string]bool{}, elders: map[string][]row{}, entries: map[string]entry{}}
	for _, r := range rows {
		b.known[r.Phrase] = true
	}
	for _, r := range rows {
		b.add(r)
	}
	for _, elders := range b.elders {
		slices.SortStableFunc(elders, namedFirst)
	}
	lengths := map[int]bool{}
	for normal := range b.entries {
		lengths[len(normal)] = true
	}
	b.lengths = slices.SortedFunc(maps.Keys(lengths), func(a, b int) int { return b - a })
	return b
}

func namedFirst(a, b row) int {
	switch {
	case a.named() == b.named():
		return 0
	case a.named():
		return -1
	}
	return 1
}

// add takes the rows in the order of their sort keys, when all keys are known.
func (b *book) add(r row) {
	normal, err := Normalize(r.Phrase)
	older := err == nil && normal != r.Phrase
	if older {
		b.elders[normal] = append(b.elders[normal], r)
	}
	if !r.named() || r.unreadable || older && b.known[normal] {
		return
	}
	b.aliases = append(b.aliases, r.Alias)
	if err != nil { // an older system's; no text matches it
		return
	}
	if _, taken := b.entries[normal]; !taken { // the first of two older spellings counts
		b.entries[normal] = entry{r.Alias, normal}
	}
}

// query reads all pages.
func (s *Store) query(ctx context.Context, scope string, in *dynamodb.QueryInput, each func(row)) error {
	for {
		out, err := s.api.Query(ctx, in)
		if err != nil {
			return err
		}
		for _, it := range out.Items {
			r, err := decode(scope, it)
			if err != nil && s.cfg.OnUnreadable == nil {
				return err
			}
			if err != nil {
				s.cfg.OnUnreadable(err)
			}
			each(r)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// decode reads an item for the method named op.
func (s *Store) decode(op, scope string, it ddb.Item) (row, error) {
	r, err := decode(scope, it)
	return r, s.wrap(op, err)
}
