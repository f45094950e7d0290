package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/run"
)

// The same updates, one at a time, go through the functions and through -serve.
// They leave the same rows in the tables, except when and by which attempt they
// were written, the same messages sent, and the same dead letters. The template's
// roles allow all that the functions ask for.
func TestTheFunctionsDoWhatServeDoes(t *testing.T) {
	t.Parallel()
	served, lambdas := newWorld(t), newWorld(t)
	url := served.serveHomeops()
	webhook, worker := start(t, ingestBinary, lambdas.as("IngestRole")), start(t, workerBinary, lambdas.as("WorkerRole"))
	for _, update := range stream(time.Now()) {
		want := served.post(url, update)
		if got := lambdas.ingest(webhook, post(update)); got != want {
			t.Errorf("%d, not %d: %s", got, want, update)
		}
		if lambdas.main.Len() == 0 {
			continue // not for the worker
		}
		if failed := lambdas.deliver(worker, 1); len(failed) > 0 {
			t.Fatalf("failed: %s", update)
		}
	}
	rows := lambdas.tables()
	if diff := cmp.Diff(served.tables(), rows); diff != "" {
		t.Errorf("tables:\n%s", diff)
	}
	if diff := cmp.Diff(served.bot.all(), lambdas.bot.all()); diff != "" {
		t.Errorf("sent:\n%s", diff)
	}
	dead := letters(lambdas.dead.Left())
	if diff := cmp.Diff(letters(served.main.Dead()), dead); diff != "" {
		t.Errorf("dead letters:\n%s", diff)
	}
	if len(rows) < updates || len(lambdas.bot.all()) < 10 || len(dead) < 2 {
		t.Errorf("%d rows, %d sent, %d dead: that shows little", len(rows), len(lambdas.bot.all()), len(dead))
	}

	lambdas.bot.set(nil, 600) // the worker hides the message for that long
	lambdas.send(says(1_000, question))
	lambdas.deliver(worker, 1)
	if _, err := lambdas.main.Send(t.Context(), job.Job{Name: job.Hourly, Due: time.Now()}.Body(), nil); err != nil {
		t.Fatal(err)
	}
	for lambdas.main.Len() > 0 {
		if failed := lambdas.deliver(worker, 1); len(failed) > 0 {
			t.Fatalf("a job failed: %v", failed)
		}
	}
	lambdas.checkRights(t)
}

func letters(dead []queue.Message) (all []string) {
	for _, m := range dead {
		body, _ := m.Content()
		all = append(all, fmt.Sprintf("%s/%s: %s: %s", m.Attributes[queue.ChatID], m.Attributes[queue.MessageID], m.Why(), body))
	}
	return all
}

// serveHomeops runs the service on the world's queue and tables, and returns where
// its webhook is.
func (w *world) serveHomeops() (url string) {
	w.t.Helper()
	env := maps.Clone(w.env)
	env["TELEGRAM_SECRET_TOKEN"], env["TELEGRAM_BOT_TOKEN"] = secretToken, botToken
	ctx, stop := context.WithCancel(w.t.Context())
	reading, writing := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		defer writing.Close()
		ended <- run.Program{
			Args: []string{"-serve", "127.0.0.1:0", "-log", "json"}, Out: io.Discard, Err: writing,
			Env:    func(name string) (string, bool) { value, ok := env[name]; return value, ok },
			Queue:  func(context.Context, config.Config, *slog.Logger) (queue.Queue, error) { return w.main, nil },
			Ending: run.Ending{Notice: func(context.Context) {}, Answer: patience, Empty: patience},
		}.Run(ctx)
	}()
	address := make(chan string, 1)
	go func() {
		for lines := json.NewDecoder(reading); ; {
			var line struct{ Msg, Address string }
			if lines.Decode(&line) != nil {
				_, _ = io.Copy(io.Discard, reading)
				return
			}
			if line.Msg == "serving" {
				address <- line.Address
			}
		}
	}()
	w.t.Cleanup(func() {
		stop()
		<-ended
	})
	select {
	case at := <-address:
		return "http://" + at + "/telegram"
	case exit := <-ended:
		ended <- exit
		w.t.Fatalf("ended with %d", exit)
	case <-time.After(patience):
		w.t.Fatal("does not start")
	}
	return ""
}

// post posts an update, and waits until it is worked on.
func (w *world) post(url, update string) (status int) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(update))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set(ingest.SecretHeader, secretToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	deadline := time.After(patience)
	for w.main.Len() > 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			w.t.Fatalf("not worked on: %s", update)
		}
	}
	return response.StatusCode
}

const updates = 150

// stream returns so many updates of two chats, seconds apart, the last of them a
// while before the given time: messages of all kinds, some of them twice, and
// updates that are not messages.
func stream(present time.Time) []string {
	type object = map[string]any
	random := rand.New(rand.NewPCG(11, 4))
	question, _ := dialog.Ask(dialog.Question{Phrase: "diksat", Name: "diskning", Lang: dialog.Swedish})
	texts := []string{
		"Jag har diskat", "diskat och dammsugit", "lagat mat, diskat och tvättat", "God morgon", "Vi ses i kväll", "diksat nu",
		"Vem diskade senast?", "När diskade Eva senast?", "Hur ofta har Eva och jag diskat den här veckan?", "Jag heter Eva", "Jag heter Ola",
		"grej%d betyder pantning", "nej, grej%d betyder städning", "fixat grej%d", "”påhitt %d” betyder ”hitta på”",
	}
	at := present.Add(-58 * time.Minute)
	all := []string{"{poison", `{"update_id":9001,"poll":{}}`}
	for i := 1; len(all) < updates; i++ {
		at = at.Add(time.Duration(2+random.IntN(38)) * time.Second)
		from, text := random.IntN(3), texts[random.IntN(len(texts))]
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, random.IntN(5))
		}
		chat := object{"id": -5 - random.IntN(2), "type": "group"}
		m := object{
			"message_id": i, "date": at.Unix(), "text": text, "chat": chat,
			"from": object{"id": 7 + from, "first_name": []string{"Eva", "Ola", "Kim"}[from]},
		}
		update := object{"update_id": i, "message": m}
		switch random.IntN(20) {
		case 0:
			m["date"] = 1_000_000 // in 1970
		case 1:
			m["text"] = "ja"
			m["reply_to_message"] = object{"message_id": 1_000_000, "date": at.Unix() - 30, "text": question, "chat": chat, "from": object{"id": 42, "is_bot": true}}
		case 2:
			update = object{"update_id": i, "edited_message": m}
		case 3:
			update = object{"update_id": i, "my_chat_member": object{
				"chat": object{"id": 7, "type": "private"}, "from": object{"id": 7}, "date": at.Unix(),
				"old_chat_member": object{"status": "member"}, "new_chat_member": object{"status": "kicked"},
			}}
		}
		var line bytes.Buffer
		if err := json.NewEncoder(&line).Encode(update); err != nil {
			panic(err)
		}
		for range 1 + random.IntN(8)/7 { // one in eight twice
			all = append(all, line.String())
		}
	}
	return all
}
