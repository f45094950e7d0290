package dlq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

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
