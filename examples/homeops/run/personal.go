package run

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
)

const aboutPersonal = `
What is stored of a person, by their number in Telegram, or of a chat:
  homeops export person ID [CHAT…]          JSON lines; CHAT… are looked through, too
  homeops export chat ID
  homeops erase person|chat ID […] -write   without -write it lists as export does
`

// notReached is the data to which no key leads.
const notReached = `Not reached:
  ledger rows, which expire after %d days and an hour at most: the key
    TELEGRAM:<chat>:<message>:said has a person's number if the chat is private, and
    CLASSIFY:<event> the people whom a text names; other keys and events are hashes, out of
    which no number can be read
  what others wrote in words; quotations, mentions and forwards in chats not looked through
  a person who turned a group into a supergroup and did nothing else there, in the message that
    says so
  of a chat: profiles, promises and summaries of people who neither lived nor did anything there,
    once their messages have expired by MESSAGES_TTL_DAYS
  the queue, dead letters (homeops dlq list) and the service's log
  backups: point-in-time recovery goes back 35 days
  what AWS logs, what Telegram has, what the provider of a language model was sent
`

// personal is homeops export and homeops erase. Ids may begin with a sign, so it
// separates them from flags by hand.
func (p Program) personal(ctx context.Context) int {
	words := slices.DeleteFunc(slices.Clone(p.Args), func(word string) bool { return word == "-write" })
	write := len(words) < len(p.Args)
	cfg, err := config.Load(p.Env)
	wrong := len(words) < 3 || words[1] != "person" && words[1] != "chat" || words[1] == "chat" && len(words) > 3 || write && words[0] == "export"
	for i, id := range words[min(2, len(words)):] {
		n, bad := strconv.ParseInt(id, 10, 64)
		wrong = wrong || bad != nil || n == 0 || n < 0 && i == 0 && words[1] == "person" || strconv.FormatInt(n, 10) != id
	}
	if wrong {
		err = fmt.Errorf("export and erase take a person or a chat by its number:%s", aboutPersonal)
	}
	return p.exit(err, func() error {
		a, db, err := p.open(ctx, cfg, words[0])
		if err != nil {
			return err
		}
		tool := &personal.Tool{DB: db.Client, App: a, Config: cfg}
		of := personal.Subject{ID: words[2], Chat: words[1] == "chat", Also: words[3:]}
		count, out := map[string]int{}, bufio.NewWriter(p.Out)
		var chats []string
		if write {
			chats, err = tool.Erase(ctx, of, count)
		} else {
			chats, err = tool.List(ctx, of, func(row personal.Row) error {
				count[strings.Join(append([]string{row.Record}, row.Loses...), " -")]++
				return json.NewEncoder(out).Encode(row)
			})
		}
		what := map[bool]string{true: "gone or changed", false: "found"}[write]
		if err == nil && len(count) == 0 {
			fmt.Fprintf(p.Err, "no key leads to stored data of %s %s\n", words[1], of.ID)
		}
		for _, record := range slices.Sorted(maps.Keys(count)) {
			fmt.Fprintf(p.Err, "%6d %s %s\n", count[record], record, what)
		}
		fmt.Fprintf(p.Err, "Looked through: %s\n"+notReached, cmp.Or(strings.Join(chats, " "), "no chat"), cfg.LedgerRetention/(24*time.Hour))
		if write && !of.Chat {
			fmt.Fprintf(p.Err, "If the person has written meanwhile: homeops erase person %s %s -write\n", of.ID, strings.Join(chats, " "))
		}
		return cmp.Or(err, out.Flush())
	})
}
