package powerbitest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// create creates a dataset, which replaces the current one.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.counts.Creates++
	code := s.createCode
	s.mu.Unlock()
	var body struct {
		Name   string `json:"name"`
		Mode   string `json:"defaultMode"`
		Tables []struct {
			Name    string `json:"name"`
			Columns []struct {
				Name string `json:"name"`
				Type string `json:"dataType"`
			} `json:"columns"`
			Measures []struct {
				Name string `json:"name"`
				DAX  string `json:"expression"`
			} `json:"measures"`
		} `json:"tables"`
	}
	err := decodeBody(r, &body)
	var tables []fact.Table
	for _, t := range body.Tables {
		made := fact.Table{Name: t.Name}
		for _, c := range t.Columns {
			made.Columns = append(made.Columns, fact.Column(c))
		}
		for _, m := range t.Measures {
			made.Measures = append(made.Measures, fact.Measure(m))
		}
		tables = append(tables, made)
	}
	reason := flaw(tables)
	switch {
	case code != "":
		fail(w, http.StatusBadRequest, code, "This feature is no longer available.")
	case err != nil || body.Name == "" || body.Mode != "Push" || r.URL.RawQuery != "defaultRetentionPolicy=None":
		s.refuse(w, http.StatusBadRequest, "InvalidRequest", "not a push dataset without retention")
	case reason != "":
		s.refuse(w, http.StatusBadRequest, "InvalidRequest", reason)
	default:
		s.mu.Lock()
		s.dataset, s.tables = fmt.Sprintf("d0000000-0000-4000-8000-%012d", s.counts.Creates+1), tablesOf(tables)
		s.cfg.Tables, s.arrivals = tables, nil
		id := s.dataset
		s.mu.Unlock()
		reply(w, http.StatusCreated, map[string]string{"id": id, "name": body.Name, "defaultRetentionPolicy": "None"})
	}
}

// Tables returns the tables of the current dataset.
func (s *Server) Tables() []fact.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg.Tables
}

// flaw says what breaks Microsoft's limits and types.
func flaw(tables []fact.Table) string {
	if len(tables) == 0 || len(tables) > mostTables {
		return fmt.Sprintf("%d tables", len(tables))
	}
	seen := map[string]bool{}
	for _, t := range tables {
		if t.Name == "" || seen[t.Name] || len(t.Columns) == 0 || len(t.Columns) > mostColumns {
			return fmt.Sprintf("table %q with %d columns", t.Name, len(t.Columns))
		}
		seen[t.Name] = true
		if reason := flawOf(t); reason != "" {
			return reason
		}
	}
	return ""
}

var types = []string{"Int64", "Double", "Boolean", "DateTime", "String", "Decimal"}

func flawOf(t fact.Table) string {
	seen := map[string]bool{}
	for _, c := range t.Columns {
		if c.Name == "" || seen[c.Name] || !slices.Contains(types, c.Type) {
			return fmt.Sprintf("column %q of type %q in table %q", c.Name, c.Type, t.Name)
		}
		seen[c.Name] = true
	}
	for _, m := range t.Measures { // a measure and a column cannot share a name
		if m.Name == "" || m.DAX == "" || seen[m.Name] {
			return fmt.Sprintf("measure %q of table %q", m.Name, t.Name)
		}
		seen[m.Name] = true
	}
	return ""
}
