package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// Bounds of what is believed.
const (
	mostDeeds  = 8
	sure       = 0.6 // of a confidence
	mostAsked  = 8   // words of a quote in a question
	mostTokens = 1 << 20
)

// letters matches a quote with three letters or more.
var letters = regexp.MustCompile(`(\p{L}.*){3}`)

// deed is what the model says was done.
type deed struct {
	Activity   string  `json:"activity"`
	Type       string  `json:"type"`
	Effort     float64 `json:"effort"`
	Confidence float64 `json:"confidence"`
	Quote      string  `json:"quote"`
	Who        *int    `json:"who"` // an index of the people; nil is the sender
}

// contentOf returns what the model wrote, from the API's reply, and counts the
// tokens, if it has them.
func contentOf(text []byte, b *bill) (string, error) {
	var reply struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct{ Content, Refusal string }
		}
		Usage struct {
			In  int64 `json:"prompt_tokens"`
			Out int64 `json:"completion_tokens"`
		}
	}
	if json.Unmarshal(text, &reply) != nil || len(reply.Choices) == 0 {
		return "", fmt.Errorf("%w: the reply does not have the expected form", errAnswer)
	}
	in, out := min(max(reply.Usage.In, 0), mostTokens), min(max(reply.Usage.Out, 0), mostTokens)
	if in > 0 || out > 0 {
		b.unknown--
	}
	b.In += in
	b.Out += out
	switch first := reply.Choices[0]; {
	case first.Message.Refusal != "":
		return "", fmt.Errorf("%w: the model refused to answer", errAnswer)
	case first.FinishReason != "stop":
		return "", fmt.Errorf("%w: the answer was cut off or filtered", errAnswer)
	default:
		return first.Message.Content, nil
	}
}

// deedsOf reads what the model wrote. If it has too many deeds, no deed is
// believed.
func deedsOf(content string) ([]deed, error) {
	var said struct{ Deeds []deed }
	if json.Unmarshal([]byte(content), &said) != nil || said.Deeds == nil || len(said.Deeds) > mostDeeds {
		return nil, fmt.Errorf("%w: the answer does not have the expected form, or has too many deeds", errAnswer)
	}
	return said.Deeds, nil
}

// believe keeps the deeds that the message supports.
func (q question) believe(deeds []deed) (result classify.Result) {
	taken := make([]bool, len(q.words))
	for _, d := range deeds {
		from, to, quoted := find(q.words, taken, words.Keys(d.Quote))
		kind, known := q.activities[d.Activity]
		by, named := q.person(d.Who)
		if !quoted || !known || !named {
			continue
		}
		for i := from; i < to; i++ {
			taken[i] = true
		}
		if d.Type != kind || d.Confidence < sure || d.Confidence > 1 {
			if phrase := words.Join(q.words[from:to]); result.Guess == nil && by == nil && to-from <= mostAsked && len(phrase) <= mostPhrase {
				result.Guess = &classify.Guess{Phrase: phrase, Name: d.Activity}
			}
			continue
		}
		_, usual := classify.KindOf(d.Activity)
		done := classify.Done{By: by, Name: d.Activity, Kind: kind, Effort: min(max(d.Effort, usual/2), 2*usual), Confidence: d.Confidence}
		if !slices.ContainsFunc(result.Done, func(d classify.Done) bool { return d.Name == done.Name && d.By == by }) {
			result.Done = append(result.Done, done)
		}
	}
	if len(result.Done) > 0 {
		result.Guess = nil
	}
	return result
}

// person returns who did the deed, at the first place where the message names them;
// nil is the sender. named is false for anybody else.
func (q question) person(who *int) (by *classify.Person, named bool) {
	switch {
	case who == nil:
		return nil, true
	case *who < 0 || *who >= len(q.People):
		return nil, false
	}
	first := slices.IndexFunc(q.People, func(p classify.Person) bool { return p.ID == q.People[*who].ID })
	return &q.People[first], true
}

// find returns the place of the quote's words in the text: one after the other, and
// not in another quote.
func find(text []words.Word, taken []bool, quote []string) (from, to int, ok bool) {
	if !letters.MatchString(strings.Join(quote, "")) {
		return 0, 0, false
	}
	for from = 0; from+len(quote) <= len(text); from++ {
		to = from + len(quote)
		if slices.EqualFunc(text[from:to], quote, func(w words.Word, key string) bool { return w.Key == key }) && !slices.Contains(taken[from:to], true) {
			return from, to, true
		}
	}
	return 0, 0, false
}
