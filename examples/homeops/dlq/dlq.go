// Package dlq is what operators do with dead letters: list them, look at one,
// send it once more. It works in the same way for every queue, by a command on
// the queue itself or over HTTP in the process that holds it.
//
//	dlq.go    the three operations, and what they write
//	http.go   the same over HTTP: a handler and its client
package dlq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

// Names of the operations.
const (
	List    = "list"
	Show    = "show"
	Redrive = "redrive"
)

// How letters are received.
const (
	batch = 10
	// hidden is for how long a received letter is hidden from others. It is
	// short, because one command may follow another.
	hidden = 3 * time.Second
	// between is the pause after a poll that brought nothing.
	between = 250 * time.Millisecond
	// A walk ends when nothing new has come for the time quiet, in at least so
	// many polls. By then the letters that another command had received are
	// back, even if it received them again just before its end.
	quiet = 2*hidden + between
	polls = 2
)

// Errors of an operation. Its output says which letters they are about.
var (
	ErrNotFound = errors.New("some letters were not found")
	ErrNotSent  = errors.New("some letters were not sent")
)

// Command is one operation.
type Command struct {
	Name string   // List, Show or Redrive
	IDs  []string // Show takes one, Redrive at least one or All
	All  bool
}

// Check refuses a command that nobody can carry out.
func (c Command) Check() error {
	switch {
	case c.Name == "":
		return errors.New("dlq: say what to do: list, show or redrive")
	case !slices.Contains([]string{List, Show, Redrive}, c.Name):
		return fmt.Errorf("dlq: %q is not list, show or redrive", c.Name)
	case c.All && c.Name != Redrive:
		return fmt.Errorf("dlq %s: -all is only for redrive", c.Name)
	case c.Name == List && len(c.IDs) > 0:
		return errors.New("dlq list: takes no ids")
	case c.Name == Show && len(c.IDs) != 1:
		return errors.New("dlq show: takes one id")
	case c.Name == Redrive && c.All == (len(c.IDs) > 0):
		return errors.New("dlq redrive: takes ids, or -all")
	case slices.Contains(c.IDs, ""):
		return fmt.Errorf("dlq %s: an id must not be empty", c.Name)
	}
	return nil
}

// Run carries the command out and writes the results, for people. It ends when
// it has all letters that were named. Otherwise it ends when nothing new has
// come for so long that the letters received by another command are back.
func (c Command) Run(ctx context.Context, q queue.Queue, w io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	o := &operation{Command: c, queue: q, letters: q.DeadLetters(), w: w, done: map[string]bool{}, sent: map[string]bool{}}
	switch c.Name {
	case List:
		return o.list(ctx)
	case Show:
		return o.walk(ctx, o.show)
	}
	return o.redriveAll(ctx)
}

// operation is a command under way.
type operation struct {
	Command
	queue   queue.Queue
	letters queue.DeadLetters
	w       io.Writer

	done map[string]bool // letters that were looked at
	sent map[string]bool // ids of letters that were sent again

	unsent int
}

// walk calls f, once, for each letter that the command is about.
func (o *operation) walk(ctx context.Context, f func(context.Context, queue.Message) error) error {
	for empty, last := 0, time.Now(); (time.Since(last) < quiet || empty < polls) && !o.found(); {
		received, err := o.letters.Receive(ctx, batch, hidden)
		if err != nil {
			return fmt.Errorf("dlq: receive: %w", err)
		}
		empty++
		for _, m := range received {
			if o.done[m.ID] {
				continue // it took so long that it is visible again
			}
			o.done[m.ID], empty, last = true, 0, time.Now()
			if len(o.IDs) > 0 && !slices.Contains(o.IDs, m.ID) {
				continue
			}
			if err := f(ctx, m); err != nil {
				return err
			}
		}
		if empty > 0 {
			_ = sleep.For(ctx, between)
		}
	}
	return o.missing()
}

// found reports whether the command has all letters that it was asked for by
// name.
func (o *operation) found() bool {
	return len(o.IDs) > 0 && !slices.ContainsFunc(o.IDs, func(id string) bool { return !o.done[id] })
}

// missing names the letters that were asked for and not found.
func (o *operation) missing() (err error) {
	for _, id := range o.IDs {
		if !o.done[id] {
			o.printf("%s  is not among the dead letters that the queue shows\n", printable(id))
			err = ErrNotFound
		}
	}
	return err
}

func (o *operation) list(ctx context.Context) error {
	var all []queue.Message
	err := o.walk(ctx, func(_ context.Context, m queue.Message) error {
		all = append(all, m)
		return nil
	})
	slices.SortStableFunc(all, func(a, b queue.Message) int { return a.SentAt.Compare(b.SentAt) })
	return errors.Join(err, o.table(all)) // also the letters before an error
}

// redriveAll sends the letters again, and says for each what happened.
func (o *operation) redriveAll(ctx context.Context) error {
	err := o.walk(ctx, o.redrive)
	o.printf("%d sent again, %d not\n", len(o.sent), o.unsent)
	if err == nil && o.unsent > 0 && !o.All {
		err = ErrNotSent
	}
	return err
}

// redrive sends the letter as it was before it was dead, and then deletes it. A
// crash in between leaves it in both places, and never loses it; an update that
// is processed twice counts once.
func (o *operation) redrive(ctx context.Context, m queue.Message) error {
	if o.sent[m.ID] || o.sent[m.Attributes[queue.Delivery]] {
		return o.not(m, "was sent again, and is dead again: "+m.Why())
	}
	body, whole := m.Content()
	if !whole {
		return o.not(m, "cannot be sent: "+broken(m))
	}
	if o.All && m.Attributes[queue.Encoding] != "" {
		if _, err := telegram.Parse(body); err != nil {
			return o.not(m, "would be refused again unless the program changed, so redrive it by its id: "+m.Why())
		}
	}
	id, err := o.queue.Send(ctx, string(body), queue.WithoutReason(m.Attributes))
	if _, large := errors.AsType[*queue.TooLargeError](err); large || errors.Is(err, queue.ErrInvalidContents) {
		return o.not(m, "cannot be sent: "+err.Error())
	}
	if err != nil {
		return fmt.Errorf("dlq: sending %s: %w", m.ID, err)
	}
	o.sent[id] = true
	if err := o.letters.Delete(ctx, m.Receipt); err != nil {
		return fmt.Errorf("dlq: %s was sent again as %s, but is still among the dead letters: %w", m.ID, id, err)
	}
	o.printf("%s  is sent again as %s\n", m.ID, id)
	return nil
}

// not says why a letter stays where it is.
func (o *operation) not(m queue.Message, why string) error {
	o.unsent++
	o.printf("%s  %s\n", m.ID, printable(why))
	return nil
}

// broken says what is wrong with a letter that is not whole.
func broken(m queue.Message) string {
	body, _ := m.Content()
	if size := m.Attributes[queue.FullSize]; size != "" {
		return fmt.Sprintf("only %d bytes of %s are kept", len(body), size)
	}
	return fmt.Sprintf("its encoding is %q, and it cannot be decoded", m.Attributes[queue.Encoding])
}

// table writes the letters in columns.
func (o *operation) table(all []queue.Message) error {
	columns := tabwriter.NewWriter(o.w, 0, 0, 2, ' ', 0)
	if len(all) > 0 {
		fmt.Fprintln(columns, "ID\tCHAT\tMESSAGE\tSENT\tRECEIVES\tWHY")
	}
	for _, m := range all {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%d\t%s\n", m.ID, printable(m.Attributes[queue.ChatID]),
			printable(m.Attributes[queue.MessageID]), at(m.SentAt), m.Receives, printable(m.Why()))
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.w, "%d dead letters. The queue may have more: SQS may leave some out, and hides those that somebody has just received.\n", len(all))
	return err
}

// show writes a letter whole.
func (o *operation) show(_ context.Context, m queue.Message) error {
	body, whole := m.Content()
	size, sum := strconv.Itoa(len(body)), sha256.Sum256(body)
	hash, kept := hex.EncodeToString(sum[:]), "yes"
	if !whole {
		kept = "no: " + broken(m)
	}
	if full := m.Attributes[queue.FullSize]; full != "" {
		size, hash = full, m.Attributes[queue.FullHash]
	}
	columns := tabwriter.NewWriter(o.w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"id", m.ID},
		{"delivery", m.Attributes[queue.Delivery]},
		{"chat", m.Attributes[queue.ChatID]},
		{"message", m.Attributes[queue.MessageID]},
		{"sent", at(m.SentAt)},
		{"receives", strconv.Itoa(m.Receives)},
		{"why", m.Why()},
		{"bytes", size},
		{"sha256", hash},
		{"whole", kept},
	} {
		if row[1] != "" {
			fmt.Fprintf(columns, "%s\t%s\n", row[0], printable(row[1]))
		}
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	text := string(body)
	if !plain(text) {
		text = "quoted as in Go: " + strconv.QuoteToASCII(text)
	}
	_, err := fmt.Fprintf(o.w, "\n%s\n", text)
	return err
}

func (o *operation) printf(format string, args ...any) { fmt.Fprintf(o.w, format, args...) }

func at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// printable puts text on one line, without characters that a terminal would
// obey: anybody may have written it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case !unicode.IsGraphic(r):
			return '?'
		}
		return r
	}, text)
}

// plain reports whether a terminal shows the text as it is.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\t' && r != '\n' && r != '\r' && !unicode.IsGraphic(r)
	})
}
