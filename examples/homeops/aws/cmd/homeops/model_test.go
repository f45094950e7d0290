package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/process"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
)

// speaker is a fake of the API. Its model understands what the vocabulary does, and
// quotes the words that say so.
type speaker struct{ asked atomic.Int64 }

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	var request struct {
		Model    string
		Messages []struct{ Content string }
	}
	var data given
	err := json.NewDecoder(r.Body).Decode(&request)
	if err == nil {
		err = json.Unmarshal([]byte(request.Messages[1].Content), &data)
	}
	if err != nil || request.Model != "gpt-4o-mini" || r.URL.Path != "/v1/chat/completions" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	content, _ := json.Marshal(map[string]any{"deeds": understood(data)})
	if n == 7 { // one answer of many is cut off
		content = content[:5]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"content": string(content)}}},
		"usage":   map[string]any{"prompt_tokens": 400, "completion_tokens": 50},
	})
}

// given is what the model is given.
type given struct {
	Text    string
	Phrases map[string]string
	People  []string
}

func understood(data given) []map[string]any {
	all := []map[string]any{}
	result := data.words(data.Text)
	for _, d := range result.Done {
		var who any
		if d.By != nil {
			who, _ = strconv.Atoi(d.By.ID)
		}
		all = append(all, map[string]any{
			"activity": d.Name, "type": d.Kind, "effort": d.Effort, "confidence": d.Confidence, "who": who, "quote": data.quote(d.Name),
		})
	}
	if g := result.Guess; g != nil {
		kind, effort := classify.KindOf(g.Name)
		all = append(all, map[string]any{"activity": g.Name, "type": kind, "effort": effort, "confidence": 0.4, "who": nil, "quote": g.Phrase})
	}
	return all
}

// words asks the vocabulary, with the phrase and the people in the text.
func (data given) words(text string) classify.Result {
	m := classify.Message{Text: text}
	for phrase, name := range data.Phrases {
		if at := strings.Index(strings.ToLower(text), phrase); at >= 0 && len(m.Known) == 0 {
			m.Known = append(m.Known, classify.Known{Phrase: phrase, Name: name, Start: at, End: at + len(phrase)})
		}
	}
	for i, name := range data.People {
		if at := strings.Index(text, name); at >= 0 {
			m.People = append(m.People, classify.Person{ID: strconv.Itoa(i), Name: name, Start: at, End: at + len(name)})
		}
	}
	result, _ := classify.Words{}.Classify(context.Background(), m)
	return result
}

// quote returns the shortest part of the text that says it.
func (data given) quote(name string) string {
	fields := strings.Fields(data.Text)
	for length := 1; length <= len(fields); length++ {
		for from := 0; from+length <= len(fields); from++ {
			part := strings.Join(fields[from:from+length], " ")
			for _, d := range data.words(part).Done {
				if d.Name == name {
					return part
				}
			}
		}
	}
	return data.Text
}

// The bundled conversation goes through the command, with a model behind an API.
// People did the same as by the vocabulary, and the report has the tokens.
func TestAConversationWithAModel(t *testing.T) {
	t.Parallel()
	file, model := process.Build(t, "."), new(speaker)
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	command := exec.CommandContext(t.Context(), file)
	command.Env = []string{"CLASSIFIER=openai", "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=sk-do-not-show", "OPENAI_MODEL=gpt-4o-mini"}
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	golden, err := os.ReadFile("../../../run/testdata/report.golden")
	if err != nil {
		t.Fatal(err)
	}
	by, with := string(golden), string(out)
	if diff := cmp.Diff(section(t, by, "Who did what"), section(t, with, "Who did what")); diff != "" {
		t.Error(diff)
	}
	asked := model.asked.Load()
	want := fmt.Sprintf("%d requests, %d tokens in, %d out; 1 times the vocabulary answered instead", asked, 400*asked, 50*asked)
	if got := section(t, with, "What the model was asked"); !strings.Contains(got, want) || asked < 300 {
		t.Errorf("asked %d times; %q is not in\n%s", asked, want, got)
	}
	if strings.Contains(with, "sk-do-not-show") || strings.Contains(by, "What the model") {
		t.Error("the key, or a model that nobody asked, is in a report")
	}
}

func section(t *testing.T, report, title string) string {
	t.Helper()
	_, after, ok := strings.Cut(report, "\n"+title+"\n")
	if !ok {
		t.Fatalf("no section %s in\n%s", title, report)
	}
	text, _, _ := strings.Cut(after, "\n\n")
	t.Logf("%s\n%s", title, text)
	return text
}
