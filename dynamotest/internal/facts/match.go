package facts

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// expectation is what a step expects of the reply.
type expectation struct {
	OK      bool
	Error   string
	Message *string
	Match   patterns
	Has     any
	Lacks   []string
	Cancel  []string
	Any     []expectation
}

// patterns is one regular expression or a list of them.
type patterns []string

func (p *patterns) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(p))
	}
	*p = make(patterns, 1)
	return json.Unmarshal(text, &(*p)[0])
}

// An answer is a reply, decoded.
type answer struct {
	status  int
	body    any
	kind    string // of error
	message string
}

func newAnswer(status int, body []byte) answer {
	a := answer{status: status}
	if err := json.Unmarshal(body, &a.body); err != nil {
		a.body, a.message = map[string]any{}, string(body[:min(len(body), 200)])
		return a
	}
	text := func(name string) string { s, _ := at(a.body, name); t, _ := s.(string); return t }
	kind := text("__type")
	a.kind = kind[strings.LastIndexByte(kind, '#')+1:]
	if a.message = text("message"); a.message == "" {
		a.message = text("Message")
	}
	return a
}

// differs returns in what the answer differs from the expectation; "" if in
// nothing.
func (e expectation) differs(a answer) string {
	if e.Any != nil {
		var whys []string
		for _, one := range e.Any {
			why := one.differs(a)
			if why == "" {
				return ""
			}
			whys = append(whys, why)
		}
		return strings.Join(whys, " | ")
	}

	for _, find := range []func(answer) string{e.type_, e.text, e.cancelled, e.content} {
		if why := find(a); why != "" {
			return why
		}
	}
	return ""
}

func (e expectation) type_(a answer) string {
	switch {
	case e.OK && a.status != 200:
		return fmt.Sprintf("refused with %d %s: %.300s", a.status, a.kind, a.message)
	case e.Error != "" && a.status == 200:
		return "accepted, want " + e.Error
	case e.Error != "" && a.kind != e.Error:
		return fmt.Sprintf("want %s, got %s: %.300s", e.Error, a.kind, a.message)
	}
	return ""
}

func (e expectation) text(a answer) string {
	if e.Message != nil && a.message != *e.Message {
		return fmt.Sprintf("want text %q, got %.600q", *e.Message, a.message)
	}

	for _, pattern := range e.Match {
		ok, err := regexp.MatchString(pattern, a.message)
		if err != nil {
			return err.Error()
		}
		if !ok {
			return fmt.Sprintf("want text matching %q, got %.600q", pattern, a.message)
		}
	}
	return ""
}

func (e expectation) cancelled(a answer) string {
	if e.Cancel == nil {
		return ""
	}

	reasons, _ := at(a.body, "CancellationReasons")
	all, _ := reasons.([]any)
	codes := make([]string, len(all))

	for i, reason := range all {
		code, _ := at(reason, "Code")
		codes[i], _ = code.(string)
	}

	if !slices.Equal(codes, e.Cancel) {
		return fmt.Sprintf("want cancellation %q, got %q", e.Cancel, codes)
	}
	return ""
}

func (e expectation) content(a answer) string {
	if e.Has != nil {
		if why := missing(e.Has, a.body, ""); why != "" {
			return why
		}
	}
	for _, path := range e.Lacks {
		if _, ok := at(a.body, path); ok {
			return path + " should not be there"
		}
	}
	return ""
}

// at returns the value at a path such as Items.0.pk.
func at(value any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[name]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// missing returns what is wanted and missing; "" if nothing is.
func missing(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		for name, arg := range want {
			if matches, ok := forms(name); ok {
				return differsUnless(matches(arg, got), want, got, path)
			}
		}
		return missingMembers(want, got, path)
	case []any:
		all, ok := got.([]any)
		if !ok || len(all) != len(want) {
			return fmt.Sprintf("%s: want %d elements, got %s", path, len(want), short(got))
		}
		for i := range want {
			if why := missing(want[i], all[i], fmt.Sprintf("%s[%d]", path, i)); why != "" {
				return why
			}
		}
		return ""
	case float64:
		number, ok := got.(float64)
		return differsUnless(ok && math.Abs(number-want) < 1e-9, want, got, path)
	}
	return differsUnless(reflect.DeepEqual(want, got), want, got, path)
}

func missingMembers(want map[string]any, got any, path string) string {
	all, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s: want an object, got %s", path, short(got))
	}

	for name, value := range want {
		member, ok := all[name]
		if !ok {
			return path + "." + name + ": missing"
		}
		if why := missing(value, member, path+"."+name); why != "" {
			return why
		}
	}
	return ""
}

// forms returns the function that reports whether a value meets a form's
// argument.
func forms(name string) (matches func(arg, got any) bool, ok bool) {
	switch name {
	case "$match":
		return matchesPattern, true
	case "$length":
		return hasLength, true
	case "$least":
		return func(arg, got any) bool { return compare(got, arg) >= 0 }, true
	case "$most":
		return func(arg, got any) bool { return compare(got, arg) <= 0 }, true
	case "$contains":
		return contains, true
	case "$without":
		return func(arg, got any) bool { _, list := got.([]any); return list && !contains(arg, got) }, true
	case "$unordered":
		return sameElements, true
	case "$present":
		return func(_, _ any) bool { return true }, true
	}
	return nil, false
}

func matchesPattern(arg, got any) bool {
	text, ok := got.(string)
	pattern, _ := arg.(string)
	found, err := regexp.MatchString(pattern, text)
	return ok && err == nil && found
}

func hasLength(arg, got any) bool {
	switch got := got.(type) {
	case []any:
		return arg == float64(len(got))
	case map[string]any:
		return arg == float64(len(got))
	}
	return false
}

// compare returns NaN unless both are numbers, which is neither more nor less
// than 0.
func compare(a, b any) float64 {
	x, ok := a.(float64)
	y, too := b.(float64)
	if !ok || !too {
		return math.NaN()
	}
	return x - y
}

func contains(arg, got any) bool {
	all, _ := got.([]any)
	return slices.ContainsFunc(all, func(one any) bool { return missing(arg, one, "") == "" })
}

// sameElements pairs each wanted element with one of the list.
func sameElements(arg, got any) bool {
	want, ok := arg.([]any)
	all, list := got.([]any)
	if !ok || !list || len(want) != len(all) {
		return false
	}

	left := slices.Clone(all)
	for _, one := range want {
		i := slices.IndexFunc(left, func(other any) bool { return missing(one, other, "") == "" })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}

	return true
}

func differsUnless(ok bool, want, got any, path string) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("%s: want %s, got %s", path, short(want), short(got))
}

func short(value any) string {
	text, _ := json.Marshal(value) // it was decoded from JSON
	return fmt.Sprintf("%.300s", text)
}
