package outbox

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typePoster = "POSTER"
	posterKey  = "POSTER"
	late       = "LATE" // type of the row, and in attribute outbox
	latePrefix = "LATE#"
)

// ErrFenced is returned by SavePoster and Learn: a poster with a higher fence has
// written the row, or this one has written it since.
var ErrFenced = queue.ErrFenced

// Poster is how far the poster is. It is one row, written before each post.
type Poster struct {
	Fence int64 // of the lease under which it was written

	// Batch and Table name what is being posted, or may have been posted, and
	// Rows is how many rows it has. They are "" after it is settled.
	Batch string
	Table string
	Rows  int
	Until time.Time // when the last of its facts was received

	PostAt time.Time        // of the last post, to the millisecond
	Hour   map[int64]Window // recent posts, by the Unix minute at which a window begins
	Total  map[string]int64 // rows ever posted, by table
	Sums   Sums             // of the batches that are settled
}

// Window counts what was posted in a while.
type Window struct{ Rows, Posts int }

// Sums are what all posters did. A batch is counted by the write that settles it, so a
// poster that ends before that leaves its batch to be settled and counted by the next.
type Sums struct {
	Posted        int // facts that the sink accepted in its reply
	Recovered     int // facts of a batch that another turn had left open, or whose reply was lost
	Reposted      int // facts that were posted again although the sink may have had them
	Doubled       int // facts that the sink certainly has twice
	DimensionRows int // rows of contacts and deals that the sink accepted
	RowsReposted  int // of these, posted again although the sink may have had them
}

func (s *Sums) byName() map[string]*int {
	return map[string]*int{
		"posted": &s.Posted, "recovered": &s.Recovered, "reposted": &s.Reposted, "doubled": &s.Doubled,
		"dimensionRows": &s.DimensionRows, "rowsReposted": &s.RowsReposted,
	}
}

func (s *Sums) encode() record.Item {
	it := record.Item{}
	for name, n := range s.byName() {
		if *n != 0 {
			it[name] = record.Int(int64(*n))
		}
	}
	return it
}

func decodeSums(it record.Item) (s Sums, _ error) {
	f := record.Read(it)
	for name, n := range s.byName() {
		*n = int(f.Int(name))
	}
	return s, f.Err()
}

// SaveLate writes what a poster learned of its batch after it had lost its lease, which
// the poster's row, then another's, cannot count. It is safe to repeat.
//
// Price: 1 request, 2 WCU. One of the two WCU is for the index.
func (s *Store) SaveLate(ctx context.Context, batch string, sums Sums) error {
	if err := checkKey("batch", latePrefix, batch); err != nil {
		return err
	}
	it := key(latePrefix + batch)
	it["type"], it[queue.Outbox] = record.Text(late), record.Text(late)
	it[queue.Received], it["sums"] = record.Time(s.cfg.Now()), mapOf(sums.encode())
	return s.wrap("SaveLate", s.queue.Keep(ctx, it))
}

// Late returns the sums of what SaveLate wrote. The index may lag.
//
// Price: 1 request, 0.5 RCU. It is 0.5 RCU for each 4 KB of all the rows together, and
// 1 request for each MB.
func (s *Store) Late(ctx context.Context) (all Sums, _ error) {
	in := s.queue.Waiting(late)
	for {
		page, err := s.queue.API.Query(ctx, in)
		if err != nil {
			return Sums{}, s.wrap("Late", err)
		}
		for _, it := range page.Items {
			one, err := decodeMap(it, "sums")
			sums, err2 := decodeSums(one)
			if err := cmp.Or(err, err2); err != nil {
				s.cfg.Unreadable(keyOf(it), err)
				continue
			}
			all = all.Plus(sums)
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; len(page.LastEvaluatedKey) == 0 {
			return all, nil
		}
	}
}

// Plus returns the sums of both.
func (s Sums) Plus(other Sums) Sums {
	more := other.byName()
	for name, n := range s.byName() {
		*n += *more[name]
	}
	return s
}

// LoadPoster returns the row, a zero Poster if it does not exist.
//
// Price: 1 request, 1 RCU.
func (s *Store) LoadPoster(ctx context.Context) (Poster, error) {
	it, err := s.queue.One(ctx, posterKey)
	if err != nil || it == nil {
		return Poster{}, s.wrap("LoadPoster", err)
	}
	p, err := decodePoster(it)
	return p, s.wrap("LoadPoster", err)
}

// SavePoster writes the row if no poster with a higher fence has written it, and
// returns ErrFenced otherwise. The caller drops the windows that are over: SavePoster
// writes all it is given. It is safe to repeat, so a lost reply
// does no harm. A request that arrives after a later one of this Store changes
// nothing, so only one Store may use a fence.
//
// Price: 1 request, 1 WCU.
func (s *Store) SavePoster(ctx context.Context, p Poster) error {
	it, err := encodePoster(p)
	if err != nil {
		return err
	}
	return s.wrap("SavePoster", s.queue.Put(ctx, p.Fence, it))
}

func checkFence(field string, fence int64) error {
	if fence < 1 {
		return event.BadInput(pkg, field, "must be positive, as the fence of every lease is")
	}
	return nil
}

func encodePoster(p Poster) (record.Item, error) {
	if err := checkFence("Fence", p.Fence); err != nil {
		return nil, err
	}
	it := key(posterKey)
	it["type"] = record.Text(typePoster)
	if p.Batch != "" {
		if err := cmp.Or(checkText("Batch", p.Batch), checkText("Table", p.Table)); err != nil {
			return nil, err
		}
		it["batch"], it["table"], it["rows"] = record.Text(p.Batch), record.Text(p.Table), record.Int(int64(p.Rows))
	}
	for name, at := range map[string]time.Time{"postAt": p.PostAt, "until": p.Until} {
		if at.IsZero() {
			continue
		}
		if err := checkTime(map[string]string{"postAt": "PostAt", "until": "Until"}[name], at); err != nil {
			return nil, err
		}
		it[name] = record.Time(at)
	}
	hour := make(record.Item, len(p.Hour))
	for minute, m := range p.Hour {
		hour[strconv.FormatInt(minute, 10)] = mapOf(record.Item{"rows": record.Int(int64(m.Rows)), "posts": record.Int(int64(m.Posts))})
	}
	total := make(record.Item, len(p.Total))
	for table, rows := range p.Total {
		if err := checkText("Total", table); err != nil {
			return nil, err
		}
		total[table] = record.Int(rows)
	}
	if len(hour) > 0 {
		it["hour"] = mapOf(hour)
	}
	if len(total) > 0 {
		it["total"] = mapOf(total)
	}
	if sums := p.Sums.encode(); len(sums) > 0 {
		it["sums"] = mapOf(sums)
	}
	return it, checkSize("Hour", it, 0)
}

func decodePoster(it record.Item) (Poster, error) {
	if err := wantType(it, typePoster); err != nil {
		return Poster{}, err
	}
	f := record.Read(it)
	p := Poster{
		Fence: f.Int("fence"), Batch: f.Text("batch"), Table: f.Text("table"), Rows: int(f.Int("rows")),
		PostAt: f.Time("postAt"), Until: f.Time("until"),
	}
	hour, err1 := decodeMap(it, "hour")
	total, err2 := decodeMap(it, "total")
	sums, err3 := decodeMap(it, "sums")
	if err := cmp.Or(err1, err2, err3, f.Err()); err != nil {
		return Poster{}, err
	}
	if p.Sums, err1 = decodeSums(sums); err1 != nil {
		return Poster{}, err1
	}
	if len(hour) > 0 {
		p.Hour = make(map[int64]Window, len(hour))
	}
	for name := range hour {
		minute, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return Poster{}, fmt.Errorf("attribute hour has the entry %q, whose name is not the number of a minute", name)
		}
		of, err := decodeMap(hour, name)
		m := record.Read(of)
		p.Hour[minute] = Window{Rows: int(m.Int("rows")), Posts: int(m.Int("posts"))}
		if err := cmp.Or(err, m.Err()); err != nil {
			return Poster{}, err
		}
	}
	if len(total) > 0 {
		p.Total = make(map[string]int64, len(total))
	}
	rows := record.Read(total)
	for table := range total {
		p.Total[table] = rows.Int(table)
	}
	if err := rows.Err(); err != nil {
		return Poster{}, err
	}
	return p, nil
}
