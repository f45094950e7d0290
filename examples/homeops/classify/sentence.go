package classify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// token is a word of the text, or several where the chat knows them as one.
type token struct {
	key        string
	role       role
	title      bool   // written like a name
	gap        string // the text between it and the token before
	start, end int
	who        *Person
	deed       *deed
}

// deed is something that the text says was done, by words that begin here.
type deed struct {
	name, phrase string
	confidence   float64
	free         bool // a phrase that the chat taught, and that need not be a verb: "en pant"
}

// suffixes are what an apostrophe adds to a word.
var suffixes = []string{"n't", "'s", "'ve", "'ll", "'d", "'re", "'m"}

// tokens splits a text into words. A picture is not a word, except a tick,
// which reads "klart".
func tokens(m Message) []token {
	var all []token
	end := 0 // of the last token
	for _, w := range words.Of(m.Text) {
		parts := strings.FieldsFunc(w.Key, func(r rune) bool { return r == '-' || r == '_' })
		for _, suffix := range suffixes {
			if base, ok := strings.CutSuffix(w.Key, suffix); ok && base != "" {
				parts = []string{base, suffix}
			}
		}
		if w.Picture && !strings.ContainsAny(w.Text, "✅✔☑") {
			continue
		}
		first, size := utf8.DecodeRuneInString(w.Text)
		second, _ := utf8.DecodeRuneInString(w.Text[size:])
		for i, part := range parts {
			t := token{key: part, role: roles[part], title: unicode.IsUpper(first) && unicode.IsLower(second), gap: m.Text[min(end, w.Start):w.Start], start: w.Start, end: w.Start + len(w.Text)}
			if i > 0 {
				t.gap, t.title, t.start = "", false, t.end-1
			}
			if w.Picture {
				t.key, t.role = "klart", aside
			}
			end = t.end
			all = t.join(all, m)
		}
	}
	for i := range all {
		t, next := &all[i], token{}
		if i+1 < len(all) {
			next = all[i+1]
		}
		switch {
		case t.key == "i" && (marked["english"][next.key] || m.Text[t.start] == 'I' && !marked["swedish"][next.key]):
			t.role = sender
		case t.key == "alla" && (next.role == thing || next.role == other), t.key == "om" && i > 0 && all[i-1].key == "hand", t.key == "half" && next.key == "an":
			t.role = aside
		}
	}
	return all
}

// join appends the token, or extends the one before if both belong to the same
// phrase or name.
func (t token) join(all []token, m Message) []token {
	var last *token
	if len(all) > 0 {
		last = &all[len(all)-1]
	}
	for _, k := range m.Known {
		if k.Start <= t.start && t.start < k.End {
			if last != nil && last.deed != nil && last.start >= k.Start {
				last.end = t.end
				return all
			}
			t.role, t.deed = did, &deed{name: k.Name, phrase: k.Phrase, confidence: taught, free: phrases[k.Phrase] == ""}
			return append(all, t)
		}
	}
	for i, p := range m.People {
		if p.Start > t.start || t.start >= p.End {
			continue
		}
		if last != nil && last.who != nil && last.start >= p.Start {
			last.end = t.end
			return all
		}
		t.role, t.who = named, &m.People[i]
	}
	return append(all, t)
}

// sentences splits the tokens into sentences; asks says which of them end with a
// question mark.
func sentences(text string, all []token) (found [][]token, asks []bool) {
	from := 0
	for i := range all {
		gap := text[all[i].end:]
		if i+1 < len(all) {
			gap = all[i+1].gap
		}
		if i+1 == len(all) || strings.ContainsAny(gap, ".!?…\n") && !number(all[i], all[i+1]) {
			found, asks = append(found, all[from:i+1]), append(asks, strings.Contains(gap, "?"))
			from = i + 1
		}
	}
	return found, asks
}

// number reports whether two tokens are one number: "8.30", "2,5".
func number(a, b token) bool {
	return (b.gap == "." || b.gap == ",") && digits(a.key) && digits(b.key)
}

func digits(key string) bool { return strings.Trim(key, "0123456789") == "" }

// clauses splits a sentence at its pauses, and at words that join clauses.
func clauses(sentence []token) (found [][]token) {
	from := 0
	for i := 1; i < len(sentence); i++ {
		t, before := sentence[i], sentence[i-1]
		picture := t.title && strings.TrimSpace(t.gap) != ""
		pause := picture || strings.ContainsAny(t.gap, ",;:–—()") && !number(before, t) || strings.Contains(t.gap, " - ")
		couple := t.role == and && i+1 < len(sentence) && before.person() && sentence[i+1].person() // "Bo och jag"
		joins := (t.role == and || t.role == then || t.role == turn) && !couple && before.role != and
		if pause || joins {
			found = append(found, sentence[from:i])
			from = i
		}
	}
	return append(found, sentence[from:])
}

// person reports whether the token names somebody who may have done something.
func (t token) person() bool { return t.role == sender || t.role == named || t.role == stranger }

// doers is the subject of a clause. The zero value has nobody yet.
type doers struct {
	sender, stranger bool
	people           []*Person
}

var somebody = doers{stranger: true}

func only(t token) doers { return doers{}.and(t) }

func (d doers) and(t token) doers {
	d.sender = d.sender || t.role == sender
	d.stranger = d.stranger || t.who == nil && t.role != sender
	if t.who != nil {
		d.people = append(d.people, t.who)
	}
	return d
}

func (d doers) unset() bool { return !d.sender && !d.stranger && len(d.people) == 0 }

// reader reads a sentence from left to right. What it knows of a clause holds for
// the next, too, which may leave it out: "Bo har diskat och städat".
type reader struct {
	*Result
	who    doers
	began  bool // the subject is the clause's own
	far    bool // another word came after it
	plain  bool // all words before are known to change nothing
	off    bool // it is denied, planned, wished or asked for
	unsure bool
}

// sentence adds what a sentence says was done.
func (r *reader) sentence(s []token, asks bool) {
	r.who, r.plain, r.off, r.unsure = doers{}, true, false, false
	if has(s, void) || quotes(s) {
		return
	}
	all := clauses(s)
	opened := slices.ContainsFunc(all, opens)
	for i, c := range all {
		open := opens(c)
		if asks && (open || !opened) {
			return // the question, and what depends on it
		}
		find(c)
		r.clause(c, i == 0, open)
		if i == 0 && len(c) == 1 && c[0].role == named && i+1 < len(all) && strings.Contains(all[1][0].gap, ",") {
			r.who = somebody // "Bo, diskat": he is told, or did it
		}
	}
}

func has(c []token, of role) bool {
	return slices.ContainsFunc(c, func(t token) bool { return t.role == of })
}

// quotes reports whether the sentence quotes others' words among its own.
func quotes(s []token) bool {
	return len(s) > 3 && slices.ContainsFunc(s[1:], func(t token) bool { return strings.ContainsAny(t.gap, "\"”“„«»") })
}

// opens reports whether a clause begins as a question does: "vem", "har du".
func opens(c []token) bool {
	for len(c) > 1 && (c[0].role == and || c[0].role == turn || c[0].role == then) {
		c = c[1:]
	}
	first, next := c[0], token{role: aside}
	if len(c) > 1 {
		next = c[1]
	}
	switch {
	case first.role == asking, marked["someone"][first.key] && next.key == "som":
		return true
	case !marked["auxiliary"][first.key]:
		return false
	case next.role == article && len(c) > 2:
		next = c[2]
	}
	object := first.key == "did" || first.key == "had" // "did the dishes", "had a nap"
	return next.person() || next.unknown() || next.role == thing && !object || next.role == helper && first.key == "var"
}

// unknown reports whether the token is written like a name that nobody here has.
func (t token) unknown() bool { return t.role == other && t.title }

// clause reads a clause. Without a subject or a "har" of its own it stays off if
// the clause before was: "jag har inte diskat, dammsugit eller städat".
func (r *reader) clause(c []token, first, open bool) {
	own := slices.ContainsFunc(c, func(t token) bool { return t.person() || t.key == "har" || t.key == "have" })
	if own || c[0].role == turn {
		r.off = c[0].key == "utan" && len(c) > 1 && c[1].key == "att"
	}
	bare := !first && (c[0].role == thing || c[0].role == did && strings.HasSuffix(c[0].key, "t")) // "regnar ute, diskat klart"
	r.plain = r.plain || own || bare || !r.who.unset()
	r.off = r.off || open || has(c, not) || year(c)
	r.off = r.off || len(c) > 1 && marked["praises"][c[0].key] && c[1].role == did
	r.unsure = r.unsure || has(c, doubt)
	retracts := func(t token) bool { return marked["retracts"][t.key] }
	if slices.ContainsFunc(c, retracts) && !slices.ContainsFunc(c, func(t token) bool {
		return !retracts(t) && t.role != aside && t.role != turn && t.role != and
	}) {
		r.Done, r.Guess = nil, nil // "Inte!", "just kidding"
	}
	r.began, r.far = false, false
	for i := range c {
		r.word(c, i, first)
	}
}

// word reads the word at c[i].
func (r *reader) word(c []token, i int, first bool) {
	t, before := c[i], token{}
	if i > 0 {
		before = c[i-1]
	}
	verb := i+1 < len(c) && (c[i+1].role == did || c[i+1].role == helper) // "för Bo har diskat"
	object := before.role == prep && !(verb && t.person()) || before.role == article && i > 1 && c[i-2].role == prep
	switch {
	case t.role == did:
		r.did(c, i)
		r.far = false
	case object:
	case t.person(), t.unknown() && !(first && i == 0) && !r.began:
		r.subject(c, i)
	case t.role == helper && before.role == other && i > 0 && r.who.unset(): // "snickarn har", "Doris has"
		r.who = somebody
	case cleft(c, i):
	case t.role == relative:
		r.who = somebody
	case t.role == asking && i > 0:
		r.off = true
	case t.role == other:
		r.far, r.plain = true, false
	}
}

// cleft reports whether "who" refers back to the subject: "det var Bo som
// diskade".
func cleft(c []token, i int) bool {
	return (c[i].role == relative || c[i].role == asking) && i > 1 && c[i-1].person() && c[i-2].role == helper
}

// subject decides who is the subject of the clause, given a person at c[i]. The
// first person is, and "and" joins another one. A person after other words is what
// the clause is about, except right before a verb: then it is unclear who did it,
// and the deed is nobody's. It is nobody's, too, if the person is named as an
// owner, or by name after words that may change the meaning.
func (r *reader) subject(c []token, i int) {
	next := token{}
	if i+1 < len(c) {
		next = c[i+1]
	}
	switch {
	case i > 1 && c[i-1].role == and && c[i-2].person():
		r.who = r.who.and(c[i])
	case owns(c[i:]), !r.began && !r.plain && c[i].role == named, r.began && r.far && (next.role == did || next.role == helper):
		r.who = somebody
	case !r.began || !r.far:
		r.who = only(c[i])
	}
	r.began = true
}

// owns reports whether somebody is named as an owner: "Bo's room", "Bos rum".
func owns(c []token) bool {
	after := func(n int) bool { return n == len(c) || c[n].role == other || c[n].role == thing }
	return len(c) > 1 && (c[1].key == "'s" && after(2) || strings.HasSuffix(c[0].key, "s") && c[0].who == nil && c[0].title && after(1))
}

// did adds the deed at c[i] if the sender or somebody whom the chat knows did
// it.
func (r *reader) did(c []token, i int) {
	d := c[i].deed
	who, ok := r.doers(c, i)
	if who.unset() && (r.plain || d.free) {
		who.sender = true
	}
	attribute := i > 0 && !d.free && (c[i-1].role == article || i == 1 && c[0].key == "det") // "the tidied room"
	unclear := len(who.people) > 0 && !r.plain
	elsewhere := slices.ContainsFunc(c[i+1:min(len(c), i+5)], func(t token) bool { return t.deed == nil && marked["elsewhere"][t.key] })
	if !ok || attribute || unclear || elsewhere || r.off {
		return
	}
	sure := !r.unsure && d.confidence > 0
	for _, by := range who.people {
		if sure {
			r.add(*d, by)
		}
	}
	switch {
	case who.sender && sure:
		r.add(*d, nil)
	case who.sender && r.Guess == nil:
		r.Guess = &Guess{Phrase: d.phrase, Name: d.name}
	}
}

// doers returns who did the deed at c[i], usually the subject so far; ok is false
// if that is unclear.
func (r *reader) doers(c []token, i int) (who doers, ok bool) {
	who, rest := r.who, c[i+1:]
	switch {
	case len(rest) > 0 && (rest[0].person() || rest[0].unknown()) && !owns(rest): // "i går diskade Bo"
		if rest[0].unknown() || i == 0 && rest[0].role != sender {
			return who, false
		}
		who = only(rest[0])
	case len(rest) > 1 && rest[0].role == helper && rest[1].person(): // "diskat har jag"
		who = only(rest[1])
	}
	later := i > 0 && (c[i-1].key == "ha" || c[i-1].key == "having") // "efter att ha diskat är Bo trött"
	by := false                                                      // "mowed by Bo", "by the neighbour"
	for _, t := range rest {
		if (later || by) && (t.person() || t.unknown()) {
			return only(t), true
		}
		by = t.key == "av" || t.key == "by" || by && t.role == article
	}
	return who, true
}

// add adds what somebody did, once.
func (r *reader) add(d deed, by *Person) {
	same := func(o Done) bool {
		return o.Name == d.name && (o.By == by || o.By != nil && by != nil && o.By.ID == by.ID)
	}
	if !slices.ContainsFunc(r.Done, same) {
		kind, effort := KindOf(d.name)
		r.Done = append(r.Done, Done{By: by, Name: d.name, Kind: kind, Effort: effort, Confidence: d.confidence})
	}
}

// year reports whether the clause is about a year: "back in 2009".
func year(c []token) bool {
	return slices.ContainsFunc(c, func(t token) bool {
		return len(t.key) == 4 && digits(t.key) && (t.key[:2] == "19" || t.key[:2] == "20")
	})
}
