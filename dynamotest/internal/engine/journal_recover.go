package engine

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// reopen does again what the file tells of, cuts off a torn end, and leaves
// the file where the next line belongs.
func (e *Engine) reopen(j *journal) error {
	in := bufio.NewReader(j.file)
	head, err := in.ReadString('\n')
	switch {
	case err != nil && err != io.EOF:
		return err
	case err == io.EOF && strings.HasPrefix(journalFormat, head): // new, or torn at birth
		return j.begin()
	case head != journalFormat:
		return fmt.Errorf("not a data file of dynamotest")
	}
	clock := e.opt.Now
	defer func() { e.opt.Now = clock }()
	reader := jsonx.NewReader(nil)
	end := int64(len(head))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		entries, ok := checked(line)
		if !ok {
			return j.cut(end, line, in)
		}
		if err := e.redo(reader, entries); err != nil {
			return fmt.Errorf("at byte %d: %w", end, err)
		}
		end += int64(len(line))
	}
}

func (j *journal) begin() error {
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	if _, err := j.file.WriteAt([]byte(journalFormat), 0); err != nil {
		return err
	}
	if _, err := j.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	return j.file.Sync()
}

// cut ends the file before a line that is no whole one, unless whole ones
// follow: then it was not torn but damaged, and something that was safe is lost.
func (j *journal) cut(end int64, line []byte, rest *bufio.Reader) error {
	for len(line) > 0 {
		next, err := rest.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if _, ok := checked(next); ok {
			return fmt.Errorf("damaged at byte %d, with whole lines after it", end)
		}
		line = next
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	if _, err := j.file.Seek(end, io.SeekStart); err != nil {
		return err
	}
	return j.file.Sync()
}

// checked returns what a whole line holds.
func checked(line []byte) (entries []byte, ok bool) {
	line, ok = bytes.CutSuffix(line, []byte("\n"))
	sum, entries, found := bytes.Cut(line, []byte(" "))
	if !ok || !found || len(sum) != 8 {
		return nil, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return entries, err == nil && crc32.Checksum(entries, castagnoli) == uint32(want)
}

// journalled is one entry.
type journalled struct {
	at             time.Time
	op, request    string
	changes        []journalledChange
	expired        bool
	token, payload string
}

type journalledChange struct {
	table       string
	put, delete attr.Map
}

// redo does the entries of a line at their own times.
func (e *Engine) redo(r *jsonx.Reader, entries []byte) error {
	r.Reset(entries)
	r.Array()
	for r.More() {
		entry, err := readEntry(r)
		if err == nil && r.Err() == nil {
			e.opt.Now = func() time.Time { return entry.at }
			err = e.redoEntry(entry)
		}
		if err != nil {
			return err
		}
	}
	r.End()
	return r.Err()
}

func (e *Engine) redoEntry(entry *journalled) error {
	switch {
	case entry.op != "":
		if operations[entry.op] == nil {
			return fmt.Errorf("no such operation: %q", entry.op)
		}
		return e.perform(entry.op, []byte(entry.request))
	case entry.token != "":
		var payload api.Fingerprint
		if n, err := hex.Decode(payload[:], []byte(entry.payload)); err != nil || n != len(payload) {
			return fmt.Errorf("no payload of a token: %q", entry.payload)
		}
		e.tokens.spend(entry.token, payload, entry.at)
		return nil
	}
	for _, c := range entry.changes {
		if err := e.redoChange(c, entry.expired); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) redoChange(of journalledChange, expired bool) error {
	t := e.tables[of.table]
	if t == nil {
		return fmt.Errorf("a change of table %q, which is not there", of.table)
	}
	item := of.put
	if item == nil {
		item = of.delete
	}
	key, ok := t.key.key(item)
	if !ok {
		return fmt.Errorf("a change of table %s without its key", of.table)
	}
	c := change{table: t, key: string(key), expired: expired}
	c.old, _ = t.items.Get(c.key)
	if of.put != nil {
		c.new = newRecord(of.put)
	}
	c.planEntries()
	e.commit([]*change{&c})
	return nil
}

func readEntry(r *jsonx.Reader) (*journalled, error) {
	var entry journalled
	var bad error
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		switch name {
		case "At":
			entry.at = time.Unix(0, r.Int())
		case "Op":
			entry.op = r.String()
		case "Request":
			entry.request = r.String()
		case "Token":
			entry.token = r.String()
		case "Payload":
			entry.payload = r.String()
		case "Expired":
			entry.expired = r.Bool()
		case "Changes":
			r.Array()
			for r.More() {
				c, err := readChange(r)
				if err != nil {
					bad = err
				}
				entry.changes = append(entry.changes, c)
			}
		default:
			r.Skip()
		}
	}
	return &entry, bad
}

func readChange(r *jsonx.Reader) (c journalledChange, bad error) {
	r.Object()
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		var err error
		switch name {
		case "Table":
			c.table = r.String()
		case "Put":
			c.put, err = attr.DecodeMap(r)
		case "Delete":
			c.delete, err = attr.DecodeMap(r)
		default:
			r.Skip()
		}
		if err != nil {
			bad = err
		}
	}
	return c, bad
}
