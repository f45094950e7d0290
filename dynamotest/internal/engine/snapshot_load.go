package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// Load adds the tables of a dump: all of them, or none if the dump is invalid.
func (e *Engine) Load(r io.Reader) error {
	opt := e.opt
	opt.Hook = nil
	opt.IndexLag, opt.ReadLag = 0, 0 // the loaded tables have no past
	loaded := New(opt)
	var t *table

	err := eachLine(r, func(line *dumped) (err error) {
		switch {
		case line.table != nil:
			t, err = loaded.loadTable(line)
			return err
		case t == nil:
			return errors.New("an item before the first table")
		case line.item == nil:
			return errors.New("a deletion, which only LoadItems takes")
		}

		if err := t.checkLoaded(line); err != nil {
			return err
		}

		loaded.load(t, line)
		return nil
	})
	if err != nil {
		return err
	}

	end, err := e.journal.Begin()
	if err != nil {
		return err
	}
	defer end()
	if err := e.adopt(loaded); err != nil {
		return err
	}

	return e.journal.Settle()
}

func (e *Engine) loadTable(line *dumped) (*table, error) {
	t, err := e.createdTable(line.table, e.now())
	if err != nil {
		return nil, err
	}
	t.def.TTL = line.ttl
	if line.backupDays > 0 {
		t.def.Backups, t.def.BackupDays, t.def.BackupsFrom = true, line.backupDays, t.def.Created
	}
	return t, nil
}

// adopt takes over the tables of another engine.
func (e *Engine) adopt(loaded *Engine) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range loaded.sorted() {
		if e.tables[t.name] != nil {
			return fmt.Errorf("table %s exists", t.name)
		}
	}

	now := e.now()
	for _, t := range loaded.sorted() {
		e.serial++
		t.def.ID = tableID(e.serial)
		e.place(t)
		if view := t.stream.View(); view != "" { // loaded items are not changes
			t.stream = e.streams.Open(&t.def, view, now)
		}
		e.logLoaded(t, now)
	}

	return nil
}

// LoadItems applies the lines of a dump or an export to one table: all of them,
// or none if one is invalid.
func (e *Engine) LoadItems(tableName string, r io.Reader) error {
	var all []*dumped
	err := eachLine(r, func(line *dumped) error {
		if line.table != nil {
			return errors.New("a table between the items")
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		return err
	}

	end, err := e.journal.Begin()
	if err != nil {
		return err
	}
	defer end()
	if err := e.loadInto(tableName, all); err != nil {
		return err
	}

	return e.journal.Settle()
}

func (e *Engine) loadInto(tableName string, all []*dumped) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tables[tableName]
	if t == nil {
		return fmt.Errorf("table %s does not exist", tableName)
	}

	for _, line := range all {
		if err := t.checkLoaded(line); err != nil {
			return fmt.Errorf("line %d: %w", line.number, err)
		}
	}

	for _, line := range all {
		e.load(t, line)
	}
	return nil
}

// load puts or deletes an item, which was checked before.
func (e *Engine) load(t *table, line *dumped) {
	c := change{table: t}
	named := line.item
	if named == nil {
		named = line.deleted
	} else {
		c.new = newRecord(line.item)
	}
	key, _ := t.key.Key(named)
	c.key = string(key)
	c.read()
	c.planUnchecked()
	e.commit(e.now(), []*change{&c})
}

// checkLoaded makes the same checks as a PutItem or a DeleteItem.
func (t *table) checkLoaded(line *dumped) error {
	if line.item == nil {
		if err := t.key.CheckKey(line.deleted); err != nil {
			return err
		}
		return nil
	}

	if err := t.key.CheckItem(line.item); err != nil {
		return err
	}
	if size := line.item.Size(); size > maxItem {
		return fmt.Errorf("an item of %d bytes, and %d are allowed", size, maxItem)
	}
	if err := checkIndexes(t.indexes, line.item); err != nil && !line.unindexed {
		return err
	}

	return nil
}

// dumped is one line of a dump or an export. It has a table, an item or the key
// of an item that was deleted.
type dumped struct {
	number        int
	table         []byte // the request of CreateTable
	ttl           string
	backupDays    int64
	item, deleted attr.Map
	unindexed     bool
}

// eachLine reads the lines that are not empty, compressed or not.
func eachLine(r io.Reader, do func(*dumped) error) error {
	in := bufio.NewReader(r)
	if start, _ := in.Peek(4); bytes.HasPrefix(start, []byte("\x1f\x8b")) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(unpacked)
	} else if string(start) == "\x28\xb5\x2f\xfd" {
		return errors.New("compressed by zstd, which is not read here: unpack it first")
	}

	reader := jsonx.NewReader(nil)
	for number := 1; ; number++ {
		text, end := in.ReadBytes('\n')
		if end != nil && end != io.EOF {
			return fmt.Errorf("line %d: %w", number, end)
		}

		if text = bytes.TrimSpace(text); len(text) > 0 {
			line, err := readLine(reader, text)
			if err == nil {
				line.number = number
				err = do(line)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}

		if end != nil {
			return nil
		}
	}
}

func readLine(r *jsonx.Reader, text []byte) (*dumped, error) {
	if err := checkFormat(text); err != nil {
		return nil, err
	}

	line := lineReader{Reader: r}
	r.Reset(text)
	r.Object()

	for name, ok := r.Key(); ok; name, ok = r.Key() {
		line.member(name)
	}

	r.End()
	if err := r.Err(); err != nil {
		return nil, err
	}

	return line.result()
}

// checkFormat returns a clear error for a line that does not begin like one of
// a dump.
func checkFormat(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("$ion_1_0")), bytes.HasPrefix(text, []byte("\xe0\x01\x00\xea")):
		return errors.New("this is Amazon Ion, which is not read here: export as DYNAMODB_JSON")
	case text[0] == '[':
		return errors.New("a JSON list: every item stands on a line of its own")
	case text[0] != '{':
		return errors.New("no JSON object: DynamoDB JSON is read here, and CSV is not")
	}
	return nil
}

// A lineReader collects the members of a line.
type lineReader struct {
	*jsonx.Reader
	dumped
	keys     attr.Map
	found    int // how many of the members that define the kind of the line
	newImage bool
	manifest bool
	err      error // the first wrong attribute
}

func (l *lineReader) member(name string) {
	switch name {
	case "Table":
		l.table = bytes.Clone(l.Raw())
		l.found++
	case "TimeToLive":
		l.ttl = l.String()
	case "PointInTimeRecovery":
		l.Object()
		for name, ok := l.Key(); ok; name, ok = l.Key() {
			if name == "RecoveryPeriodInDays" {
				l.backupDays = l.Int()
			} else {
				l.Skip()
			}
		}
	case "Item":
		l.item = l.attributes()
		l.found++
	case "Unindexed":
		l.unindexed = l.Bool()
	case "Keys": // in an incremental export, together with the images
		l.keys = l.attributes()
		l.found++
	case "NewImage":
		l.item, l.newImage = l.attributes(), true
	case "dataFileS3Key", "exportArn":
		l.manifest = true
		l.Skip()
	default:
		l.Skip()
	}
}

func (l *lineReader) attributes() attr.Map {
	m, err := attr.DecodeMap(l.Reader)
	if l.err == nil {
		l.err = err
	}
	return m
}

func (l *lineReader) result() (*dumped, error) {
	switch {
	case l.err != nil:
		return nil, l.err
	case l.manifest:
		return nil, errors.New("the manifest of an export: load the data files that it names")
	case l.found == 0:
		return nil, errors.New("neither a table nor an item nor a change of one")
	case l.found > 1 || l.newImage && l.keys == nil:
		return nil, errors.New("more than one of a table, an item and a change of one")
	case l.keys != nil && !l.newImage:
		l.deleted = l.keys
	}
	return &l.dumped, nil
}

// logLoaded appends a table that was loaded as a whole. The table and its stream have the
// times of their creation, and the items that of the load.
func (e *Engine) logLoaded(t *table, loaded time.Time) {
	if e.journal == nil {
		return
	}
	e.journal.Append(t.weight(), journal.AppendEntry(nil, t.def.Created, t.writeState))
	for key, rec := range t.items.Ascend("") {
		e.logChanges(loaded, []*change{{table: t, key: key, new: rec}})
	}
	if t.stream.Open() {
		e.journal.Append(0, journal.AppendEntry(nil, t.stream.Created, func(w *api.Writer) { t.stream.Write(w, true) }))
	}
}
