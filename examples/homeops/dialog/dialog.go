// Package dialog is what people say to the bot and what it says to them, in
// Swedish and English. It only knows texts: nothing here reads or writes
// tables.
package dialog

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
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

	Promise  *Promise  // I promise to …
	Promises *Promises // what has … promised?
	Week     *Week     // how was the week, how do we stand?
	About    *About    // what the sender says of themselves
}

// Promise: the sender promises to do something, today or until By.
type Promise struct {
	What string // the activity, as they said it
	Said string // all of what they promised, for people
	By   string // "tomorrow" or a day of the week, as they said it
	Lang Lang
}

// Promises asks for the active promises of those named in Rest.
type Promises struct {
	Rest string
	Lang Lang
}

// Week asks for the summary of this week, of the one before, or for this week's
// balance.
type Week struct {
	Before, Balance bool
	Lang            Lang
}

// About is what the sender says of themselves. One of the three fields is set.
type About struct {
	Home     bool   // they live here
	Language Lang   // they want to be written to in it
	Zone     string // an IANA name
	Lang     Lang
}

// Teach says that a phrase stands for a name.
type Teach struct {
	Phrase, Name string
	Correct      bool // even if it stood for something else before
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

// Often asks how often something was done this week, by everybody or by a
// person named in Rest.
type Often struct {
	Rest string
	Lang Lang
}

// Start is the /start command.
type Start struct{}

// form is a way to say something; its first group is the subject.
type form struct {
	lang Lang
	re   *regexp.Regexp
}

func sv(re string) form { return form{Swedish, regexp.MustCompile(`(?is)^` + re + `$`)} }
func en(re string) form { return form{English, regexp.MustCompile(`(?is)^` + re + `$`)} }

var (
	who = []form{
		sv(`vem (?:var det som )?(?:har )?(?:gjorde |gjort )?(.+?) senast`),
		sv(`vem (?:var det som )?senast (?:har )?(?:gjorde |gjort )?(.+?)`),
		en(`who (?:last )?(?:did |has done |was it that did )?(.+?) last`),
		en(`who last (?:did )?(.+?)`),
	}
	when = []form{
		sv(`när (?:gjorde |har )?(.+?) senast(?: gjort)?`),
		sv(`när (?:gjorde |har )?(.+? senast .+?)`),
		en(`when did (.+? last (?:do |did )?.+?)`),
		en(`when did (.+?) last`),
	}
	often = []form{
		sv(`hur (?:ofta|många gånger) (?:har |gjorde |gjordes |blev )?(.+?) (?:den här veckan|denna vecka|i veckan|den här vecka)`),
		en(`how (?:often|many times) (?:did |has |have |was |were )?(.+?) this week`),
	}
	correct = []form{
		sv(`(?:nej|näe|nä)[-–,.:;!\s]+(.+) betyder (.+)`),
		en(`no[-–,.:;!\s]+(.+) means (.+)`),
	}
	teach = []form{
		sv(`(.+) betyder (.+)`),
		en(`(.+) means (.+)`),
	}
	named = []form{
		sv(`(?:jag heter|kalla mig) (.+)`),
		en(`(?:my name is|call me) (.+)`),
	}
	start = regexp.MustCompile(`(?i)^/start(?:@\w+)?(?:\s|$)`)
)

// Understand finds what the text wants of the bot; ok is false when it wants
// nothing.
func Understand(text string) (_ Intent, ok bool) {
	text = strings.TrimSpace(text)
	if start.MatchString(text) {
		return Intent{Start: &Start{}}, true
	}
	said := strings.TrimRight(text, " ?.!")
	for _, find := range []func(string) (Intent, bool){question, asksOfHousehold} {
		if intent, ok := find(said); ok {
			return intent, true
		}
	}
	if strings.HasSuffix(text, "?") {
		return Intent{}, false // any other question is not for the bot
	}
	if intent, ok := tellsOfHousehold(said); ok {
		return intent, true
	}
	if m, lang := first(correct, said); m != nil {
		return lesson(m, lang, true)
	}
	if m, lang := first(teach, said); m != nil {
		return lesson(m, lang, false)
	}
	if m, lang := first(named, said); m != nil && callable(words.Bare(m[1])) {
		return Intent{Named: &Named{Name: words.Bare(m[1]), Lang: lang}}, true
	}
	return Intent{}, false
}

func question(said string) (_ Intent, ok bool) {
	if m, lang := first(who, said); m != nil && short(m[1]) {
		return Intent{Who: &Who{What: m[1], Lang: lang}}, true
	}
	if m, lang := first(when, said); m != nil && short(m[1]) {
		return Intent{When: &When{Rest: filler.ReplaceAllString(m[1], " "), Lang: lang}}, true
	}
	if m, lang := first(often, said); m != nil && short(m[1]) {
		return Intent{Often: &Often{Rest: m[1], Lang: lang}}, true
	}
	return Intent{}, false
}

// lesson is what "X means Y" teaches; ok is false if it teaches nothing.
func lesson(m []string, lang Lang, correct bool) (_ Intent, ok bool) {
	phrase, name := words.Bare(m[1]), words.Bare(m[2])
	if !teachable(phrase, words.Quoted(m[1])) || !sayable(name) {
		return Intent{}, false
	}
	return Intent{Teach: &Teach{Phrase: phrase, Name: name, Correct: correct, Quoted: words.Quoted(m[2]), Lang: lang}}, true
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

// Reply is what somebody answers to the bot's question.
type Reply struct {
	Yes  bool
	Name string // with a no: what was meant instead; may be ""
}

// A yes or a no ends with its letters. \b does not work here: it does not know
// that ä is a letter. A yes that goes on to a no is a no.
var (
	yes = regexp.MustCompile(`(?i)^\s*(?:ja|japp|jo|yes|yep|yeah)(?:[^\pL\pM\pN]|$)`)
	no  = regexp.MustCompile(`(?is)^\s*(?:(?:ja|japp|jo|yes|yep|yeah|well)[^\pL\pN]+(?:(?:men|eller|but|or)[^\pL\pN]+)?)?` +
		`(?:nej|nää|näe|nä|nope|no)` +
		`(?:[^\pL\pM\pN]+(?:(?:men|utan|but)\s+)?(?:jag menade|det var|i meant|it was)\s+(.+?)[\s.!]*|[^\pL\pM\pN]*)$`)
)

var refusal = regexp.MustCompile(`(?i)^\s*(?:nej|nää|näe|nä|nope|no|inte|not)(?:[^\pL\pM\pN]|$)`)

// Refuses reports whether a reply to a suggestion refuses it.
func Refuses(text string) bool { return refusal.MatchString(text) }

// Answer reads a reply to the bot's question; ok is false when it is neither
// yes nor no.
func Answer(text string) (_ Reply, ok bool) {
	if m := no.FindStringSubmatch(text); m != nil {
		return Reply{Name: words.Bare(m[1])}, true
	}
	if yes.MatchString(text) {
		return Reply{Yes: true}, true
	}
	return Reply{}, false
}

const (
	longest   = 100 // characters of what the bot is asked about, or taught without quotes
	mostWords = 4   // of a phrase without quotes
)

// sayable reports whether the text can name something.
func sayable(text string) bool {
	steers := func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }
	return len(words.Of(text)) > 0 && !strings.ContainsFunc(text, steers)
}

// short reports whether the text is sayable and not too long.
func short(text string) bool { return sayable(text) && utf8.RuneCountInString(text) <= longest }

// teachable reports whether a phrase may stand for an activity, which is then
// found in every message that has the phrase. Common words are not a phrase. A
// sentence, or the beginning of one, is a phrase only in quotes.
func teachable(phrase string, quoted bool) bool {
	keys := words.Keys(phrase)
	if !sayable(phrase) || !slices.ContainsFunc(keys, func(word string) bool { return !common[word] }) {
		return false
	}
	return quoted || short(phrase) && len(keys) <= mostWords &&
		!leading[keys[len(keys)-1]] && !strings.ContainsAny(phrase, pauses)
}

// callable reports whether somebody can be called that: one word or two, not a
// sentence that begins with a name.
func callable(name string) bool {
	keys := words.Keys(name)
	return short(name) && len(keys) <= 2 && !strings.ContainsAny(name, pauses) && Callable(name)
}

// Callable reports whether a name says who is meant. "Jag" does not: anybody may
// have it as their name in Telegram, but it is each sender's word for themselves.
func Callable(name string) bool {
	return !slices.ContainsFunc(words.Keys(name), func(word string) bool { return unnamed[word] })
}

// pauses separate sentences and clauses.
const pauses = ",.;:!?\n"

var (
	// common words occur in any message.
	common = words.Set(`
		jag du han hon den det de dom vi ni mig dig honom henne oss er dem sig man min din sin vår mitt ditt sitt mina dina sina våra
		en ett som att och eller men så om när då var vad vem hur här där denna detta dessa i på av till för från med hos ut in upp ner ur
		är har hade ska skall kan vill måste blir blev gör gjort gjorde tog tagit nu idag sen redan också bara inte ja nej nä näe jo tack ok
		i you he she it we they me him her us them my your his our their a an the this that these those and or but so if when then
		what who how here there in on at of to for from with by out up down off is are was were be been has have had do does did done
		will can now today already also just not no yes thanks okay`)

	// leading words at the end of a phrase show that the sentence goes on.
	leading = words.Set("det den som att och eller men så it that this which and or but so")

	// unnamed are words that are not names: those that follow a name, and those
	// that stand for anybody.
	unnamed = words.Set(`och eller men som har hade är ska inte när sen nu and or but who have has is am not when later now back
		jag vi du ni han hon hen de dom man någon nån ingen alla vem i we you he she it they someone somebody anyone anybody nobody everyone everybody`)
)
