package model

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"

	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// Bounds of what is sent.
const (
	mostText        = 4000 // bytes
	mostPhrases     = 100
	mostPhraseBytes = 4 << 10 // of all, with their activities
	mostPhrase      = 200     // of one
	mostWritten     = 1000    // tokens of an answer
)

// What the model is told: the same each time.
var (
	//go:embed instructions.txt
	instructions string
	//go:embed format.json
	format json.RawMessage
)

// question is a message, with all else that the model is given.
type question struct {
	classify.Message
	words      []words.Word      // of its text
	activities map[string]string // name → kind
	phrases    map[string]string // phrase → name
}

// question puts together what was known when the message was sent: the phrases that
// occur in it, then the others in alphabetical order, as many as fit.
func (c *Classifier) question(ctx context.Context, m classify.Message) (question, error) {
	q := question{m, words.Of(m.Text), map[string]string{}, map[string]string{}}
	all, err := c.Phrases(ctx, m.Scope)
	if err != nil {
		return q, err
	}
	var known []classify.Known
	for _, a := range all {
		if a.NamedBy.Compare(m.Event) <= 0 {
			known = append(known, classify.Known{Phrase: a.Phrase, Name: a.Name})
		}
	}
	slices.SortFunc(known, func(a, b classify.Known) int { return cmp.Compare(a.Phrase, b.Phrase) })
	for _, name := range classify.Names() {
		q.activities[name], _ = classify.KindOf(name)
	}
	left := mostPhraseBytes
	for _, k := range slices.Concat(m.Known, known) {
		size := len(k.Phrase) + len(k.Name)
		if _, twice := q.phrases[k.Phrase]; twice || size > min(left, mostPhrase) || len(q.phrases) == mostPhrases {
			continue
		}
		left -= size
		q.phrases[k.Phrase] = k.Name
		q.activities[k.Name], _ = classify.KindOf(k.Name)
	}
	return q, nil
}

// request is the body of the POST. What people wrote is in it as JSON inside JSON.
func (q question) request(model string) ([]byte, error) {
	if len(q.Text) > mostText {
		return nil, errors.New("the text is too long to be sent")
	}
	people := make([]string, len(q.People))
	for i, p := range q.People {
		people[i] = q.Text[p.Start:p.End]
	}
	data, err := json.Marshal(map[string]any{"text": q.Text, "activities": q.activities, "phrases": q.phrases, "people": people})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"model": model, "max_completion_tokens": mostWritten, "response_format": format,
		"messages": []map[string]string{{"role": "system", "content": instructions}, {"role": "user", "content": string(data)}},
	})
}
