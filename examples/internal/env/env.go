// Package env reads a program's settings from the environment, and collects what is
// wrong with them, so that the program can name all of it at its start.
package env

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// Reader reads variables. A variable that is set but empty counts as not set, as in
// a compose file.
type Reader struct {
	lookup func(string) (string, bool)
	errs   []error
}

// NewReader returns a Reader on lookup, such as os.LookupEnv.
func NewReader(lookup func(string) (string, bool)) *Reader { return &Reader{lookup: lookup} }

// Err names every variable whose value is wrong, or is nil.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Value returns the variable's value.
func (r *Reader) Value(name string) string {
	value, _ := r.lookup(name)
	return value
}

// Wrong says what is wrong with a variable.
func (r *Reader) Wrong(name, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: "+format, append([]any{name}, args...)...))
}

// Form is the form of a value.
type Form struct {
	Pattern *regexp.Regexp
	Want    string // follows "must be"
}

// These are forms that AWS prescribes.
var (
	TableName = Form{regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`), "a table name: 3 to 255 letters, digits, '_', '-', '.'"}
	Region    = Form{regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`), "a region such as eu-north-1"}
)

// Text reads a value of the form.
func (r *Reader) Text(name, otherwise string, form Form) string {
	value := r.Value(name)
	if value == "" {
		return otherwise
	}
	if !form.Pattern.MatchString(value) {
		r.Wrong(name, "must be %s, is %q", form.Want, value)
	}
	return value
}

// Secret reads a value of the form. No error shows the value.
func (r *Reader) Secret(name string, form Form) string {
	value := r.Value(name)
	if value != "" && !form.Pattern.MatchString(value) {
		r.Wrong(name, "must be %s", form.Want)
	}
	return value
}

// Days reads a number of whole days. Why says what is wrong with fewer or more.
func (r *Reader) Days(name string, otherwise, least, most int, why string) time.Duration {
	return time.Duration(r.Number(name, "days", otherwise, least, most, why)) * 24 * time.Hour
}

// Number reads a whole number of things. Why says what is wrong with fewer or more.
func (r *Reader) Number(name, things string, otherwise, least, most int, why string) int {
	value := r.Value(name)
	if value == "" {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < least || number > most {
		r.Wrong(name, "must be a whole number of %s from %d to %d, is %q: %s", things, least, most, value, why)
	}
	return number
}

// URL reads the address of a service. It refuses a query or a fragment, which would
// be lost on the way.
func (r *Reader) URL(name, otherwise, such string) string {
	value := r.Value(name)
	if value == "" {
		return otherwise
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.Wrong(name, "must be a URL such as %s, is %q", such, value)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil:
		r.Wrong(name, "must be a URL without user, query or fragment, such as %s", such)
	}
	return value
}

// Table is a table's name, and the variable with the name.
type Table struct{ Variable, Name string }

// Distinct refuses one table for two purposes, because their keys differ.
func (r *Reader) Distinct(tables ...Table) {
	seen := map[string]string{}
	for _, table := range tables {
		if first, ok := seen[table.Name]; ok {
			r.Wrong(table.Variable, "must not be %q, which is the table of %s", table.Name, first)
		}
		seen[table.Name] = table.Variable
	}
}
