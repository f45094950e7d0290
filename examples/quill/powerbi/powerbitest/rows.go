package powerbitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

type table struct {
	columns map[string]string // types by name
	rows    []row
}

type row struct {
	key, batch string
	at         time.Time
	raw        json.RawMessage
}

func tablesOf(tables []fact.Table) map[string]*table {
	made := map[string]*table{}
	for _, t := range tables {
		columns := map[string]string{}
		for _, c := range t.Columns {
			columns[c.Name] = c.Type
		}
		made[t.Name] = &table{columns: columns}
	}
	return made
}

// posted accepts all rows or none.
func (s *Server) posted(w http.ResponseWriter, r *http.Request) {
	fault, free := s.begin()
	defer s.end()
	if !free {
		s.throttle(w, time.Second, "posts are pending")
		return
	}
	var body struct {
		Rows []json.RawMessage `json:"rows"`
	}
	err := decodeBody(r, &body)
	if fault == LoseRequest {
		fault.before(w)
	}
	if err != nil {
		s.refuse(w, http.StatusBadRequest, "InvalidRequest", "the body: "+err.Error())
		return
	}
	if wait, which := s.arrive(len(body.Rows)); wait > 0 {
		s.throttle(w, wait, which)
		return
	}
	if !fault.before(w) {
		return
	}
	if status, code, reason := s.add(r.PathValue("dataset"), r.PathValue("table"), body.Rows); status != 0 {
		s.refuse(w, status, code, reason)
		return
	}
	if fault.after(w) {
		reply(w, http.StatusOK, nil)
	}
}

// begin counts a post, and reports whether few enough are under way.
func (s *Server) begin() (fault Fault, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Posts++
	s.pending++
	return s.onPost[s.counts.Posts], s.pending <= pendingPosts
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending--
}

// add keeps the rows, or says why it refuses them.
func (s *Server) add(dataset, name string, raws []json.RawMessage) (status int, code, reason string) {
	rows := make([]row, len(raws))
	s.mu.Lock()
	defer s.mu.Unlock()
	t, at := s.tables[name], s.cfg.Now()
	switch {
	case dataset != s.dataset:
		return http.StatusNotFound, "PowerBIEntityNotFound", "no dataset " + dataset
	case t == nil:
		return http.StatusNotFound, "PowerBIEntityNotFound", fmt.Sprintf("no table %q among %q", name, names(s.tables))
	case s.cfg.Limits.RowsAPost > 0 && len(raws) > s.cfg.Limits.RowsAPost:
		return http.StatusBadRequest, "InvalidRequest", fmt.Sprintf("%d rows in a post", len(raws))
	case s.cfg.Limits.RowsATable > 0 && len(t.rows)+len(raws) > s.cfg.Limits.RowsATable:
		return http.StatusBadRequest, "InvalidRequest", fmt.Sprintf("%d rows in the table, and %d more", len(t.rows), len(raws))
	}
	batches := map[string]string{} // one string for all rows of a batch
	for i, raw := range raws {
		values, err := decode(raw)
		if err == nil {
			err = t.check(values, s.cfg.Limits.TextUnits)
		}
		if err != nil {
			return http.StatusBadRequest, "InvalidRequest", fmt.Sprintf("row %d: %v", i, err)
		}
		key, _ := values["key"].(string)
		batch, _ := values["batch"].(string)
		if _, known := batches[batch]; !known {
			batches[batch] = batch
		}
		rows[i] = row{key: key, batch: batches[batch], at: at, raw: raw}
	}
	t.rows = append(t.rows, rows...)
	return 0, "", ""
}

func decode(raw json.RawMessage) (fact.Row, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var values fact.Row
	if err := d.Decode(&values); err != nil {
		return nil, err
	}
	if values == nil {
		return nil, fmt.Errorf("is not an object")
	}
	return values, nil
}

// check refuses columns that the table does not have, and values of another type.
func (t *table) check(values fact.Row, units int) error {
	for _, name := range names(values) {
		kind, known := t.columns[name]
		if !known {
			return fmt.Errorf("no column %q among %q", name, names(t.columns))
		}
		value := values[name]
		if value == nil { // blank
			continue
		}
		if !fits(kind, value) {
			return fmt.Errorf("column %q of type %s has the value %.100v", name, kind, value)
		}
		if text, ok := value.(string); ok && units > 0 && len(utf16.Encode([]rune(text))) > units {
			return fmt.Errorf("column %q has more than %d characters", name, units)
		}
	}
	return nil
}

// fits reports whether a value has the type. It does not convert: text is not a
// number.
func fits(kind string, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	var err error
	switch strings.ToLower(kind) {
	case "string":
		return isText
	case "int64":
		_, err = strconv.ParseInt(number.String(), 10, 64)
		return isNumber && err == nil
	case "decimal":
		return isNumber
	case "datetime":
		_, err = time.Parse(time.RFC3339, text)
		return isText && err == nil
	}
	return false
}
