package dialog

import (
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
