package dialog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

var (
	promises = []form{
		sv(`vad (?:har (.+?) lovat|lovade (.+?))(?: att göra)?`),
		en(`what (?:(?:have|has) (.+?) promised|did (.+?) promise)(?: to do)?`),
	}
	balance = []form{
		sv(`(?:hur ligger vi till|vem har gjort mest)(?: (?:den här veckan|denna vecka|i veckan))?`),
		en(`(?:how do we stand|who (?:has done|did) the most)(?: this week)?`),
	}
	week = []form{
		sv(`(?:hur (?:var|är|gick|har)|sammanfatta) (?:den här |(förra ))?veckan(?: varit)?`),
		en(`(?:how (?:was|is|has)|sum up|summari[sz]e) (?:the|this|(last)) week(?: been)?`),
	}
	promise = []form{
		sv(`jag lovar att (?:jag ska )?(.+)`),
		en(`i promise (?:to|(?:that )?i(?:['’]ll| will)) (.+)`),
	}
	about = []form{ // a home, a language, a zone
		sv(`(?:(jag bor här)|skriv (?:på )?(svenska|engelska) till mig|min tidszon är ([\w+/-]+))`),
		en(`(?:(i live here)|write to me in (swedish|english)|my time ?zone is ([\w+/-]+))`),
	}
	langs = map[string]Lang{"svenska": Swedish, "swedish": Swedish, "engelska": English, "english": English}

	days = strings.Fields("söndag måndag tisdag onsdag torsdag fredag lördag sunday monday tuesday wednesday thursday friday saturday")
	// until splits a promise into what is promised, and by when, if not today.
	until = regexp.MustCompile(`(?i)^(.+?) (?:(?:senast|till|by) )?(?:(?:på|on) )?(?:i ?dag|i ?kväll|today|tonight|(i ?morgon|tomorrow|` +
		strings.Join(days, "|") + `))(?: (?:kväll|bitti|morning|evening))?$`)
)

// asksOfHousehold finds questions about those who live together.
func asksOfHousehold(said string) (_ Intent, ok bool) {
	if m, lang := first(promises, said); m != nil {
		return Intent{Promises: &Promises{Rest: m[1] + m[2], Lang: lang}}, short(m[1] + m[2])
	}
	if m, lang := first(balance, said); m != nil {
		return Intent{Week: &Week{Balance: true, Lang: lang}}, true
	}
	m, lang := first(week, said)
	return Intent{Week: &Week{Before: m != nil && m[1] != "", Lang: lang}}, m != nil
}

// tellsOfHousehold finds what people promise, and say of themselves.
func tellsOfHousehold(said string) (_ Intent, ok bool) {
	if m, lang := first(about, said); m != nil {
		return Intent{About: &About{Home: m[1] != "", Language: langs[strings.ToLower(m[2])], Zone: m[3], Lang: lang}}, true
	}
	m, lang := first(promise, said)
	if m == nil || !short(m[1]) {
		return Intent{}, false
	}
	all := slices.DeleteFunc(words.Of(m[1]), func(w words.Word) bool { return w.Picture })
	p := Promise{What: words.Join(all), Said: words.Join(all), Lang: lang}
	if m := until.FindStringSubmatch(p.Said); m != nil {
		p.What, p.By = m[1], strings.ToLower(m[2])
	}
	return Intent{Promise: &p}, len(all) > 0
}

// Ahead is how many days after today the last day is. If several days fit, it
// is the next.
func (p Promise) Ahead(today time.Weekday) int {
	day := slices.Index(days, p.By)
	switch {
	case p.By == "":
		return 0
	case day < 0:
		return 1
	}
	return (day - int(today) + 7) % 7
}

// Noted says that the bot will remember something.
func Noted(lang Lang, what string) string { return say(lang, "Noterat 🤝 %s", "Noted 🤝 %s", what) }

// PromiseOf is a promise in a list; by is its last day.
func PromiseOf(lang Lang, person, what, by string) string {
	return say(lang, "%s: %s (senast %s)", "%s: %s (by %s)", person, what, by)
}

// NoPromises is the line of a list for a person without promises.
func NoPromises(lang Lang, person string) string {
	return say(lang, "%s: inga löften just nu", "%s: no promises at the moment", person)
}

// NoSuchPromise says that the bot does not know the promised activity.
func NoSuchPromise(lang Lang, what string) string {
	return say(lang, "Jag känner inte till sysslan «%s». Lova en som jag känner till, i dag, i morgon eller en veckodag.", "I know of no chore «%s». Promise one that I know: today, tomorrow or on a weekday.", what)
}

// Standing says what each person has carried, the one who carries most first, and
// by how much more than the next; it is "" without people.
func Standing(lang Lang, shares []Share) string {
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Net, a.Net) })
	if len(shares) == 0 {
		return ""
	}
	text := say(lang, "Belastning den här veckan", "Load this week")
	for i, s := range shares {
		text += fmt.Sprintf("\n%s: %s", s.Person, load(lang, s.Net))
		if rest := shares[i+1:]; len(rest) > 0 && s.Net == rest[0].Net {
			text += say(lang, ", lika mycket som %s", ", as much as %s", rest[0].Person)
		} else if len(rest) > 0 {
			text += say(lang, ", %s mer än %s", ", %s more than %s", load(lang, s.Net-rest[0].Net), rest[0].Person)
		}
	}
	return text
}

// load is a number as the language writes it.
func load(lang Lang, x float64) string {
	text := fmt.Sprintf("%.6g", x) // without floating-point noise
	if lang == English {
		return text
	}
	return strings.Replace(text, ".", ",", 1)
}

// Share is what somebody's week came to.
type Share struct {
	Person           string
	Chores, Recovery int
	Net, Fairness    float64 // load; 0 to 1
	Highlights       []string
}

// Summary sums up a week, such as 2026-W13, with a line for each person; it is ""
// without people.
func Summary(lang Lang, week string, shares []Share) string {
	if len(shares) == 0 {
		return ""
	}
	text := say(lang, "Vecka %s", "Week %s", week)
	for _, s := range shares {
		text += say(lang, "\n%s: sysslor %d, återhämtning %d, belastning %s, rättvisa %.0f %%",
			"\n%s: chores %d, recovery %d, load %s, fairness %.0f%%", s.Person, s.Chores, s.Recovery, load(lang, s.Net), 100*s.Fairness)
		if len(s.Highlights) > 0 {
			text += say(lang, "; mest %s", "; mostly %s", strings.Join(s.Highlights, ", "))
		}
	}
	return text
}

// NoHousehold says that the bot does not know who lives there.
func NoHousehold(lang Lang) string {
	return say(lang, "Jag vet inte vilka som bor här. Skriv «jag bor här» i er grupp.", "I do not know who lives here. Write «I live here» in your group.")
}

// NoSuchZone says that a time zone is unknown.
func NoSuchZone(lang Lang, zone string) string {
	return say(lang, "Jag känner inte till tidszonen %s; skriv till exempel Europe/Stockholm.", "I know of no time zone %s; write Europe/Stockholm, say.", zone)
}

// Suggestion says that somebody usually does an activity at this time. The verb is
// "" if the activity has none.
func Suggestion(lang Lang, person, verb, name string) string {
	if verb == "" {
		return say(lang, "%s brukar göra det här nu: %s.", "%s usually does this now: %s.", person, name)
	}
	return say(lang, "%s brukar %s nu.", "%s usually %s now.", person, verb)
}

// Reminder reminds somebody of what they promised, as they said it.
func Reminder(lang Lang, person, what string) string {
	return say(lang, "%s, du lovade «%s». Hur går det?", "%s, you promised «%s». How is it going?", person, what)
}
