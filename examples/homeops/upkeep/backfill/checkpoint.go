package backfill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// key is the key of a row. The file has it as DynamoDB's JSON.
type key map[string]types.AttributeValue

func (k key) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(k) }

func (k *key) UnmarshalJSON(text []byte) (err error) {
	*k, err = attributevalue.UnmarshalMapJSON(text)
	return err
}

// segment is how far a part of a table is done: up to Next, or all of it.
type segment struct {
	Next   key `json:",omitempty"`
	Done   bool
	Counts Counts
}

// checkpoint is how far a run is done. It never claims too much, but may lag
// behind: it is written after the page that it counts.
type checkpoint struct {
	Where  string
	Tables map[string][]*segment

	mu   sync.Mutex
	file string // "" without Write
}

// openCheckpoint reads the file, and refuses that of another run. Without a file
// the run starts from the beginning.
func openCheckpoint(o Options) (*checkpoint, error) {
	c := &checkpoint{Where: o.Where, Tables: map[string][]*segment{}}
	for _, t := range o.Tables {
		for range o.Segments {
			c.Tables[t.Name] = append(c.Tables[t.Name], &segment{})
		}
	}
	if !o.Write {
		return c, nil
	}
	c.file = o.Checkpoint
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, c.save()
	}
	found := &checkpoint{file: c.file}
	if err := errors.Join(err, json.Unmarshal(text, found)); err != nil {
		return nil, fmt.Errorf("-checkpoint: %s cannot be read: %w", c.file, err)
	}
	alike := func(a, b []*segment) bool { return len(a) == len(b) && !slices.Contains(a, nil) }
	if found.Where != c.Where || !maps.EqualFunc(found.Tables, c.Tables, alike) {
		return nil, fmt.Errorf("-checkpoint: %s is of another database, other tables or another number of segments: delete it to begin anew", c.file)
	}
	if found.done() {
		fmt.Fprintf(o.Log, "%s says that all is done, so nothing is read: delete it to begin anew\n", c.file)
	}
	return found, nil
}

// done reports whether all segments of all tables are done.
func (c *checkpoint) done() bool {
	for _, segments := range c.Tables {
		if slices.ContainsFunc(segments, func(s *segment) bool { return !s.Done }) {
			return false
		}
	}
	return true
}

// turn records that a page of the segment is done.
func (c *checkpoint) turn(s *segment, page Counts, next key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Counts.add(page)
	s.Next, s.Done = next, len(next) == 0
	return c.save()
}

// counts are the sums over all segments, by table.
func (c *checkpoint) counts() map[string]Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]Counts{}
	for name, segments := range c.Tables {
		var sum Counts
		for _, s := range segments {
			sum.add(s.Counts)
		}
		all[name] = sum
	}
	return all
}

func (c *Counts) add(o Counts) {
	c.Rows, c.Older, c.LeftAlone = c.Rows+o.Rows, c.Older+o.Older, c.LeftAlone+o.LeftAlone
	c.Written, c.Changed = c.Written+o.Written, c.Changed+o.Changed
	c.RCU, c.WCU = c.RCU+o.RCU, c.WCU+o.WCU
}

// save replaces the file: a crash leaves the old one or the new one.
func (c *checkpoint) save() error {
	if c.file == "" {
		return nil
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), c.file)
}
