package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/promise"
)

// weeks writes what each person's weeks came to, and who carried more.
func (p *printer) weeks(s Stored) {
	if len(s.Summaries) == 0 {
		return
	}
	p.title("How the weeks went")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\t\tchores\trecovery\tnet load\tfairness\t\n")
		for _, one := range s.Summaries {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%g\t%.2f\t\n", one.Period, p.name(one.User), one.Chores, one.Recovery, one.Net, one.Fairness)
		}
	})
	p.printf("\nWho carried how much more than whom:\n")
	for i, b := range s.Balances {
		if i == 0 || b.Period != s.Balances[i-1].Period {
			p.printf("%s", b.Period)
		}
		p.printf("  %s–%s %+g", p.name(b.A), p.name(b.B), b.Delta())
		if i+1 == len(s.Balances) || b.Period != s.Balances[i+1].Period {
			p.printf("\n")
		}
	}
}

// promises writes what became of each promise.
func (p *printer) promises(all []promise.Promise) {
	p.title("Promises")
	became := map[promise.Status]string{promise.Active: "open", promise.Fulfilled: "kept", promise.Expired: "expired"}
	is := map[string]int{}
	var lines strings.Builder
	for _, one := range all {
		now, when := became[one.Status], ""
		if one.Status != promise.Active {
			when = p.time(one.Settled.Time())
		}
		if one.Status == promise.Fulfilled && one.Settled.Time().After(one.Deadline) {
			now += " late"
		}
		is[now]++
		fmt.Fprintf(&lines, "%s\t%s\tby %s\t%s\t%s\n", p.name(one.User), oneLine(one.Description, 40), p.time(one.Deadline.Add(-time.Second)), now, when)
	}
	p.counts("made", is)
	p.table(false, func(w io.Writer) { io.WriteString(w, lines.String()) })
}
