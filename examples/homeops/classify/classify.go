// Package classify tells from a message what somebody did. A service may put a
// language model here; the default looks words up.
package classify

import (
	"context"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// Kinds of activities.
const (
	Chore    = "chore"
	Recovery = "recovery"
)

// Done is something a message says its sender did.
type Done struct {
	Name       string // canonical, such as "diskning"
	Kind       string
	Effort     float64 // 1 is a light chore
	Confidence float64 // 0 to 1
}

// Guess is what a message might say: worth a question.
type Guess struct {
	Phrase string // as the message has it
	Name   string // what it may stand for
}

// Result is what a message says. Both empty: nothing of interest.
type Result struct {
	Done  []Done
	Guess *Guess
}

// Known is a phrase of the chat's own vocabulary that stands in the message,
// at text[Start:End].
type Known struct {
	Phrase, Name string
	Start, End   int
}

// Classifier tells what a message says, given what the chat has taught: what
// is known comes in the order of the text and does not overlap.
type Classifier interface {
	Classify(ctx context.Context, text string, known []Known) (Result, error)
}

// Words is the default Classifier: the chat's phrases and, in what they leave
// of the text, a vocabulary of Swedish and English.
type Words struct{}

var _ Classifier = Words{}

// Confidence of what is found.
const (
	taught = 1.0
	listed = 0.9
)

// Classify names each thing done once, in the order of the text.
func (Words) Classify(_ context.Context, text string, known []Known) (Result, error) {
	if !states(text) {
		return Result{}, nil
	}
	var result Result
	add := func(name string, confidence float64) {
		if slices.ContainsFunc(result.Done, func(d Done) bool { return d.Name == name }) {
			return
		}
		kind, effort := KindOf(name)
		result.Done = append(result.Done, Done{Name: name, Kind: kind, Effort: effort, Confidence: confidence})
	}
	at := 0
	for _, k := range known {
		listedIn(text[at:k.Start], add)
		add(k.Name, taught)
		at = k.End
	}
	listedIn(text[at:], add)
	if len(result.Done) == 0 {
		result.Guess = guess(split(text))
	}
	return result, nil
}

// listedIn adds what a stretch of text says by the vocabulary.
func listedIn(text string, add func(name string, confidence float64)) {
	keys := split(text)
	for len(keys) > 0 {
		name, length := longest(keys)
		if length > 0 {
			add(name, listed)
		}
		keys = keys[max(length, 1):]
	}
}

// states reports whether the text states something done: no question, no
// plan, no denial.
func states(text string) bool {
	if strings.HasSuffix(strings.TrimSpace(text), "?") {
		return false
	}
	return !slices.ContainsFunc(split(text), func(word string) bool { return notDone[word] })
}

var notDone = words.Set(`
	inte ej aldrig ska skall kan måste borde orkar imorgon
	not never no will should must can haven't didn't won't tomorrow`)

// split returns the words of the text as the vocabulary has them: without
// pictures, and in parts what a hyphen joins. "did 🧽 the dishes" and
// "diskat-dammsugit" are of its phrases.
func split(text string) []string {
	var keys []string
	for _, word := range words.Of(text) {
		if !word.Picture {
			keys = append(keys, strings.FieldsFunc(word.Key, func(r rune) bool { return r == '-' || r == '_' })...)
		}
	}
	return keys
}

// longest returns the longest phrase of the vocabulary that the words begin
// with.
func longest(keys []string) (name string, length int) {
	for length = min(longestPhrase, len(keys)); length > 0; length-- {
		if name, ok := phrases[strings.Join(keys[:length], " ")]; ok {
			return name, length
		}
	}
	return "", 0
}

// guess finds a word that is one slip of the finger from a word of the
// vocabulary. Short words, and words that name an activity without saying it
// was done, are meant as they are.
func guess(keys []string) *Guess {
	for _, word := range keys {
		if _, named := NameOf(word); named || len([]rune(word)) < 5 {
			continue
		}
		for _, phrase := range singles {
			if slip([]rune(word), []rune(phrase)) {
				return &Guess{Phrase: word, Name: phrases[phrase]}
			}
		}
	}
	return nil
}

// slip reports whether one letter too many, too few, wrong, or two swapped
// make the one word of the other.
func slip(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	if i == len(a) {
		return false // the same word
	}
	if slices.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}
