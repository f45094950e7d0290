// Package classify tells from a message what somebody did. A service may put a
// language model here; the default goes by words.
//
// Words takes a text apart into sentences and clauses. vocabulary.txt says which words
// mean that something was done, roles.txt what the words around them do. Then each
// clause is read from left to right (sentence.go):
//
//	whose is it?       the nearest subject's: the sender, a name that the chat knows, or
//	                   a stranger's, and then nobody's; the sender's, if there is none and
//	                   every word before is known to change nothing
//	was it done?       not in a question, nor beside a word that denies, plans, wishes or
//	                   makes a habit of it; nowhere in a sentence of "if" and "he says"
//	is that certain?   with "I think", or one slip of the finger: asked, not recorded
//
// A clause without a subject has that of the one before: "Bo har diskat och städat".
// In doubt nothing is recorded. Irony, pronouns, and what follows from other messages
// are not understood.
package classify

import (
	"context"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// Kinds of activities.
const (
	Chore    = "chore"
	Recovery = "recovery"
)

// Done is something a message says was done.
type Done struct {
	By         *Person // whom the message names for it; nil is the sender
	Name       string  // canonical, such as "diskning"
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
	Usage Usage
}

// Usage is what it cost to find out: nothing by a vocabulary.
type Usage struct {
	Model    string // who is asked, "" for a vocabulary
	Requests int    // to the model
	In, Out  int64  // tokens
	FellBack bool   // the model gave no answer: it is the vocabulary's
	Replayed bool   // of an earlier delivery: nobody was asked
}

// Known is a phrase of the chat's own vocabulary that stands in the message,
// at text[Start:End].
type Known struct {
	Phrase, Name string
	Start, End   int
}

// Person is somebody whom the chat knows and the message names, at
// text[Start:End].
type Person struct {
	ID, Name   string
	Start, End int
}

// Message is what a Classifier reads. What is known and who is named come in the
// order of the text; neither overlaps its like.
type Message struct {
	Event  event.Event // the same on each delivery
	Scope  string      // what the chat's phrases are kept under
	Text   string
	Known  []Known
	People []Person
}

// Classifier tells what a message says, given what the chat has taught.
type Classifier interface {
	Classify(ctx context.Context, m Message) (Result, error)
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

// Classify names each thing done once for each who did it, in the order of the text.
func (Words) Classify(_ context.Context, m Message) (Result, error) {
	var result Result
	r := reader{Result: &result}
	found, asks := sentences(m.Text, tokens(m))
	for i, s := range found {
		r.sentence(s, asks[i])
	}
	if len(result.Done) > 0 {
		result.Guess = nil
	}
	return result, nil
}

// split returns the words of the text as the vocabulary has them: without
// pictures, and in parts what a hyphen joins. "did 🧽 the dishes" and
// "diskat-dammsugit" are of its phrases.
func split(text string) []string {
	var keys []string
	for _, t := range tokens(Message{Text: text}) {
		keys = append(keys, t.key)
	}
	return keys
}

// slipped returns the activity that a word is one slip of the finger from. Short words,
// and words that name an activity without saying it was done, are meant as they are.
func slipped(word string) string {
	if _, named := bare[word]; named || len([]rune(word)) < 5 || roles[word] != other {
		return ""
	}
	for _, phrase := range singles {
		if slip([]rune(word), []rune(phrase)) {
			return phrases[phrase]
		}
	}
	return ""
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
