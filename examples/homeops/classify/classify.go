// Package classify finds out from a message what somebody did. A service may
// use a language model for that; the default goes by words.
//
// [Words] splits a text into sentences and clauses. vocabulary.txt lists the words
// that mean that something was done, roles.txt what the words around them do. Each
// clause is then read from left to right (sentence.go):
//
//	who did it?        the nearest subject: the sender, or a name that the chat knows. A
//	                   stranger's deed is nobody's. Without a subject it was the sender,
//	                   if every word before is known to change nothing
//	was it done?       not in a question, and not beside a word that denies, plans or wishes
//	                   it, or makes it a habit; nowhere in a sentence with "if" or "he says"
//	is that certain?   with "I think", or with one typing error, the bot asks about it
//	                   instead of recording it
//
// A clause without a subject has that of the clause before: "Bo har diskat och
// städat". In doubt nothing is recorded. Irony, pronouns, and what follows from
// other messages are not understood.
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
	By         *Person // who did it, as the message names them; nil is the sender
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

// Usage is what the answer cost. That of a vocabulary costs nothing.
type Usage struct {
	Model    string // that was asked, "" for a vocabulary
	Requests int    // to the model
	In, Out  int64  // tokens
	FellBack bool   // the model gave no answer, and the vocabulary did
	Replayed bool   // it is the answer of an earlier delivery: no model was asked
}

// Known is a phrase of the chat's own vocabulary that occurs in the message, at
// text[Start:End].
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

// Message is what a Classifier reads. Known and People are in the order of the
// text. No two phrases overlap, and no two people do.
type Message struct {
	Event  event.Event // the same on each delivery
	Scope  string      // what the chat's phrases are kept under
	Text   string
	Known  []Known
	People []Person
}

// Classifier finds out what a message says, given what the chat has taught.
type Classifier interface {
	Classify(ctx context.Context, m Message) (Result, error)
}

// Words is the default Classifier. It looks for the chat's phrases, and in the
// rest of the text for those of a Swedish and English vocabulary.
type Words struct{}

var _ Classifier = Words{}

// Confidence of what is found.
const (
	taught = 1.0
	listed = 0.9
)

// Classify returns each activity once for each person who did it, in the order of
// the text.
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
// pictures, and hyphenated words in their parts. So it finds phrases in "did 🧽
// the dishes" and "diskat-dammsugit".
func split(text string) []string {
	var keys []string
	for _, t := range tokens(Message{Text: text}) {
		keys = append(keys, t.key)
	}
	return keys
}

// slipped returns the activity that a word means if it has one typing error, ""
// otherwise. Short words count as they are written. So do words that name an
// activity without saying that it was done.
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

// slip reports whether two words differ by one typing error: a letter too many,
// too few or wrong, or two letters swapped.
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
