package powerbi_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

// The created dataset has the report's tables, columns and measures, and accepts
// rows.
func TestCreate(t *testing.T) {
	t.Parallel()
	s := powerbitest.New(powerbitest.Config{Tables: []fact.Table{{Name: "Old"}}})
	c := clientOf(s)
	c.Dataset = ""
	id, err := c.Create(t.Context(), "quill")
	if err != nil || id == "" || id == powerbitest.Dataset {
		t.Fatalf("%q, %v", id, err)
	}
	if diff := cmp.Diff(fact.Tables, s.Tables()); diff != "" {
		t.Error(diff)
	}
	c.Dataset = id
	if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 2)); err != nil || s.Counts().Rows != 2 {
		t.Errorf("%v, %+v", err, s.Counts())
	}
	c.Dataset = powerbitest.Dataset
	if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 2)); kind(err) != "wait 0s" || !strings.Contains(err.Error(), "404, PowerBIEntityNotFound") {
		t.Errorf("into one that is not there: %v", err)
	}
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	s := powerbitest.New(powerbitest.Config{})
	s.RefuseCreate("FeatureDeprecatedError")
	_, err := clientOf(s).Create(t.Context(), "quill")
	var refused *powerbi.RefusedError
	if !errors.Is(err, powerbi.ErrCreateRefused) || !errors.As(err, &refused) || refused.Code != "FeatureDeprecatedError" {
		t.Errorf("%v", err)
	}
}

// After these answers it is unknown whether a dataset was created.
func TestCreateUnclear(t *testing.T) {
	t.Parallel()
	for _, tr := range []*transport{always(500, nil, ""), always(201, nil, "{}"), always(201, nil, "<html>"), always(200, nil, `{"id":"x"}`), answering(lost)} {
		id, err := clientOf(tr).Create(t.Context(), "quill")
		if id != "" || err == nil || errors.Is(err, powerbi.ErrCreateRefused) || !strings.Contains(err.Error(), "may have been created") {
			t.Errorf("%q, %v", id, err)
		}
	}
	if id, err := clientOf(always(202, nil, "\ufeff"+`{"id":"x"}`)).Create(t.Context(), "quill"); id != "x" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
}

func lost(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// The report's tables keep Microsoft's bounds for a push dataset.
func TestTablesKeepTheBounds(t *testing.T) {
	t.Parallel()
	if n := len(fact.Tables); n == 0 || n > 75 {
		t.Errorf("%d tables", n)
	}
	measures := map[string]bool{}
	for _, table := range fact.Tables {
		if n := len(table.Columns); n == 0 || n > 75 {
			t.Errorf("%s: %d columns", table.Name, n)
		}
		types := map[string]string{}
		for _, c := range table.Columns {
			if types[c.Name] != "" {
				t.Errorf("%s has two columns %s", table.Name, c.Name)
			}
			types[c.Name] = c.Type
		}
		for _, m := range table.Measures {
			if measures[m.Name] || types[m.Name] != "" {
				t.Errorf("the measure %q has another's name", m.Name)
			}
			measures[m.Name] = true
			for _, part := range strings.Split(m.DAX, table.Name+"[")[1:] { // the columns that it counts exist
				if column, _, _ := strings.Cut(part, "]"); types[column] == "" {
					t.Errorf("%s: the measure %q names the column %q", table.Name, m.Name, column)
				}
			}
		}
	}
}
