// Package dialog is what people say to the bot and what it says to them, in
// Swedish and English. It knows words only: nothing here reads or writes.
package dialog

import (
	"regexp"
	"strings"
)

// Lang is the language of an exchange: the bot answers in the one it was
// spoken to in.
type Lang string

// The languages.
const (
	Swedish Lang = "sv"
	English Lang = "en"
)

// Intent is what somebody wants of the bot. Exactly one is not nil.
type Intent struct {
	Teach *Teach
	Named *Named
	Who   *Who
	When  *When
	Often *Often
	Start *Start
}

// Teach says that a phrase stands for a name.
type Teach struct {
	Phrase, Name string
	Correct      bool // whatever it stood for before
	Quoted       bool // the name is in quotes, and so is meant even if new
	Lang         Lang
}

// Named: the sender wants to be known by the name.
type Named struct {
	Name string
	Lang Lang
}

// Who asks who did something last.
type Who struct {
	What string
	Lang Lang
}

// When asks when somebody last did something. Rest holds the person and the
// activity, in either order: only names that are known tell them apart.
type When struct {
	Rest string
	Lang Lang
}

// Often asks how often something was done this week, by anybody or by a person
// named in Rest.
type Often struct {
	Rest string
	Lang Lang
}

// Start is the /start command.
type Start struct{}

// form is a way to say something; its first group is what it is about.
type form struct {
	lang Lang
	re   *regexp.Regexp
}

func sv(re string) form { return form{Swedish, regexp.MustCompile(`(?is)^` + re + `$`)} }
func en(re string) form { return form{English, regexp.MustCompile(`(?is)^` + re + `$`)} }

var (
	who = []form{
		sv(`vem (?:var det som )?(?:har )?(?:gjorde |gjort |tog )?(.+?) senast`),
		sv(`vem (?:var det som )?senast (?:har )?(?:gjorde |gjort |tog )?(.+?)`),
		en(`who (?:last )?(?:did |has done |was it that did )?(.+?) last`),
		en(`who last (?:did )?(.+?)`),
	}
	when = []form{
		sv(`när (?:gjorde |har |tog )?(.+?) senast(?: gjort)?`),
		sv(`när (?:gjorde |har )?(.+? senast .+?)`),
		en(`when did (.+? last (?:do |did )?.+?)`),
		en(`when did (.+?) last`),
	}
	often = []form{
		sv(`hur (?:ofta|många gånger) (?:har |gjorde |gjordes |blev )?(.+?) (?:den här veckan|denna vecka|i veckan|den här vecka)`),
		en(`how (?:often|many times) (?:did |has |have |was |were )?(.+?) this week`),
	}
	correct = []form{
		sv(`(?:nej|näe|nä),? ?(.+) betyder (.+)`),
		en(`no,? ?(.+) means (.+)`),
	}
	teach = []form{
		sv(`(.+) betyder (.+)`),
		en(`(.+) means (.+)`),
	}
	named = []form{
		sv(`(?:jag heter|kalla mig) (\S.{0,40})`),
		en(`(?:my name is|call me) (\S.{0,40})`),
	}
	start = regexp.MustCompile(`(?i)^/start(?:@\w+)?(?:\s|$)`)
)

// Understand finds what the text wants of the bot; ok is false when it wants
// nothing.
func Understand(text string) (_ Intent, ok bool) {
	if start.MatchString(strings.TrimSpace(text)) {
		return Intent{Start: &Start{}}, true
	}
	said := strings.TrimRight(strings.TrimSpace(text), " ?.!")
	if m, lang := first(who, said); m != nil {
		return Intent{Who: &Who{What: m[1], Lang: lang}}, true
	}
	if m, lang := first(when, said); m != nil {
		return Intent{When: &When{Rest: filler.ReplaceAllString(m[1], " "), Lang: lang}}, true
	}
	if m, lang := first(often, said); m != nil {
		return Intent{Often: &Often{Rest: m[1], Lang: lang}}, true
	}
	if strings.HasSuffix(strings.TrimSpace(text), "?") {
		return Intent{}, false // any other question is none of the bot's
	}
	if m, lang := first(correct, said); m != nil {
		return Intent{Teach: &Teach{Phrase: bare(m[1]), Name: bare(m[2]), Correct: true, Quoted: quoted(m[2]), Lang: lang}}, true
	}
	if m, lang := first(teach, said); m != nil {
		return Intent{Teach: &Teach{Phrase: bare(m[1]), Name: bare(m[2]), Quoted: quoted(m[2]), Lang: lang}}, true
	}
	if m, lang := first(named, said); m != nil {
		return Intent{Named: &Named{Name: bare(m[1]), Lang: lang}}, true
	}
	return Intent{}, false
}

// filler are words of a question that are neither person nor activity.
var filler = regexp.MustCompile(`(?i)\s(?:(?:senast|last|do|did|gjort|gjorde)\s+)+`)

func first(forms []form, said string) ([]string, Lang) {
	for _, f := range forms {
		if m := f.re.FindStringSubmatch(said); m != nil {
			return m, f.lang
		}
	}
	return nil, ""
}

const quotes = `"'”“’«»`

// bare strips quotes and space around a phrase.
func bare(text string) string { return strings.Trim(strings.TrimSpace(text), quotes) }

func quoted(text string) bool {
	text = strings.TrimSpace(text)
	return bare(text) != text
}

// Reply is what somebody answers to the bot's question.
type Reply struct {
	Yes  bool
	Name string // with a no: what was meant instead; may be ""
}

var (
	yes = regexp.MustCompile(`(?i)^\s*(?:ja|japp|jo|yes|yep|yeah)\b`)
	no  = regexp.MustCompile(`(?is)^\s*(?:nej|nä|näe|no|nope)\b(?:[,.! ]*(?:jag menade|det var|i meant|it was)\s+(.+?))?[\s.!]*$`)
)

// Answer reads a reply to the bot's question; ok is false when it is neither
// yes nor no.
func Answer(text string) (_ Reply, ok bool) {
	if yes.MatchString(text) {
		return Reply{Yes: true}, true
	}
	if m := no.FindStringSubmatch(text); m != nil {
		return Reply{Name: bare(m[1])}, true
	}
	return Reply{}, false
}
