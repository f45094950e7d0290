package demo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

const (
	wrongs      = 20   // how many differences are listed
	longestText = 4000 // in bytes: Power BI never cuts a text of this length
)

// wrong notes that something is not what it must be.
func (r *Report) wrong(format string, args ...any) {
	if r.WrongAll++; len(r.Wrong) < wrongs {
		r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
	}
}

// sent notes a request that was answered.
func (r *Report) sent(request stream.Request, got Answer, tries int) {
	want := request.Want
	r.Requests++
	r.Again += tries - 1
	if request.At.After(r.Last) {
		r.Last = request.At
	}
	if request.Proof != stream.Right {
		r.Forged++
	}
	r.Want.Add(want)
	for _, key := range want.Facts {
		r.facts.add(key)
	}
	right := Answer{want.Received, want.New, want.Duplicate, want.Refused, want.Waiting, want.Ignored}
	if got != right {
		r.wrong("%s of %s was answered %+v, not %+v", request.Path, request.At, got, right)
	}
	r.known.Add(want.Known)
}

// check compares the outcome with what is right.
func (r *replay) check() {
	rep := r.report
	rep.Events, rep.Facts = rep.in.Snapshot(), rep.out.Counts()
	rep.judge()
	for _, v := range r.powerBI.Violations() {
		rep.wrong("Power BI refused: %s", v)
	}
	for _, w := range rep.known.Wrong(r.powerBI) {
		rep.wrong("%s", w)
	}
}

// judge compares the report's figures with one another.
func (r *Report) judge() {
	got, w := r.Events, r.Want
	want := intake.Counts{
		Received: w.Received, New: w.New, Duplicate: w.Duplicate, Refused: w.Refused, Waiting: w.Waiting,
		Ignored: w.Ignored, Old: w.Old, Later: w.Later, Forged: r.Forged,
	}
	if got.Forged > r.Forged && got.Forged <= r.Forged+r.Again { // a forged request was sent again
		want.Forged = got.Forged
	}
	if got != want {
		r.wrong("the webhook counted %+v, not %+v", got, want)
	}
	if got.New+got.Duplicate+got.Refused+got.Waiting+got.Ignored != got.Received {
		r.wrong("the webhook's counts do not add up: %+v", got)
	}
	s, out := r.Stored, r.Facts
	if marks := w.New + w.Waiting + w.Later + w.Old; s.Marks != marks {
		r.wrong("the ledger has %d marks, not %d", s.Marks, marks)
	}
	if s.Older != r.OldRows {
		r.wrong("the ledger has %d rows of the pipeline before, not %d", s.Older, r.OldRows)
	}
	r.refusals()
	if s.facts != r.facts {
		r.wrong("the outbox has %d facts, which are not the %d that came", s.Facts, w.New)
	}
	if s.Pending != 0 {
		r.wrong("%d facts are not posted", s.Pending)
	}
	if s.posted != r.facts {
		r.wrong("Power BI has %d facts, which are not the %d that came", s.posted.n, w.New)
	}
	twice, rows, dimensions := 0, 0, 0
	for _, t := range s.Tables {
		if isFacts(t.Name) {
			rows, twice = rows+t.Rows, twice+t.Twice
		} else {
			dimensions += t.Rows
		}
	}
	r.dimensions(dimensions)
	if twice != 0 { // Power BI can be asked
		r.wrong("%d rows of facts are in Power BI twice", twice)
	}
	if out.Posted+out.Recovered != rows {
		r.wrong("the poster reports %d facts, and Power BI has %d", out.Posted+out.Recovered, rows)
	}
}

// refusals checks that refused events are kept. Some events are refused twice, and
// are one row.
func (r *Report) refusals() {
	if kept := r.Stored.Refusals; kept > r.Want.Refused || kept == 0 && r.Want.Refused > 0 {
		r.wrong("the outbox has %d refusals of %d refused events", kept, r.Want.Refused)
	}
}

// dimensions checks what the poster reports about so many rows of contacts and
// deals. If rows were posted again, it cannot know which of them were already
// there.
func (r *Report) dimensions(rows int) {
	if least := r.Facts.DimensionRows; rows < least || rows > least+r.Facts.RowsReposted {
		r.wrong("the poster reports %d rows of contacts and deals and %d reposted, and Power BI has %d", least, r.Facts.RowsReposted, rows)
	}
}

// row checks a row of a fact in Power BI. A text that was cut is not compared.
func (r *Report) row(stored outbox.Stored, got fact.Row) {
	want := fact.Row{"at": fact.Time(stored.At), "receivedAt": fact.Time(stored.ReceivedAt), "batch": stored.Batch}
	maps.Copy(want, stored.Row)
	for _, column := range slices.Sorted(maps.Keys(want)) {
		text := fmt.Sprint(want[column])
		if len(text) <= longestText && !same(got[column], text) {
			r.wrong("%s: %s is %v in Power BI and %q in the outbox", stored.Key, column, got[column], text)
		}
	}
}
