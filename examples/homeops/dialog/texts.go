package dialog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// Question asks whether a phrase stands for a name. Phrase and name are in the
// text, so that a reply to it carries them back and nothing is stored.
type Question struct {
	Person       string // who is asked; "" for anybody
	Phrase, Name string
	Lang         Lang
}

// The guillemets mark phrase and name: nothing else in a question has one.
var asked = regexp.MustCompile(`(?s)^(?:([^«»]+), )?([Mm]enade du|[Dd]id you mean) «([^«»]+)» (?:med|by) «([^«»]+)»\?`)

// Ask writes the question; ok is false if it cannot ask about the phrase or the
// name. It leaves out a person whose name has guillemets.
func Ask(q Question) (text string, ok bool) {
	if strings.ContainsAny(q.Phrase+q.Name, "«»") || q.Phrase == "" || q.Name == "" {
		return "", false
	}
	if q.Person == "" || strings.ContainsAny(q.Person, "«»") {
		return say(q.Lang, "Menade du %s", "Did you mean %s", q.rest()), true
	}
	return say(q.Lang, "%s, menade du %s", "%s, did you mean %s", q.Person, q.rest()), true
}

func (q Question) rest() string {
	return say(q.Lang, "«%s» med «%s»? Svara ja, eller: nej, jag menade …", "«%s» by «%s»? Reply yes, or: no, I meant …", q.Name, q.Phrase)
}

// Asked reads a question back from its text.
func Asked(text string) (_ Question, ok bool) {
	m := asked.FindStringSubmatch(text)
	if m == nil {
		return Question{}, false
	}
	lang := Swedish
	if strings.EqualFold(m[2], "did you mean") {
		lang = English
	}
	return Question{Person: m[1], Phrase: m[4], Name: m[3], Lang: lang}, true
}

// say picks the language's text.
func say(lang Lang, swedish, english string, args ...any) string {
	if lang == English {
		return fmt.Sprintf(english, args...)
	}
	return fmt.Sprintf(swedish, args...)
}

// Deed is what somebody did.
type Deed struct{ Person, Name string }

// Praise answers recorded activities, grouped by person; remaining is how many
// answers the day has left.
func Praise(lang Lang, deeds []Deed, remaining int64) string {
	var lines []string
	for len(deeds) > 0 {
		person, done := deeds[0].Person, ""
		deeds = slices.DeleteFunc(slices.Clone(deeds), func(d Deed) bool {
			if d.Person == person {
				done += ", " + d.Name
			}
			return d.Person == person
		})
		lines = append(lines, say(lang, "Tack %s! %s ✔", "Thanks %s! %s ✔", person, done[2:]))
	}
	if remaining == 0 {
		lines = append(lines, say(lang, "(Nu är jag tyst till i morgon.)", "(Quiet until tomorrow now.)"))
	}
	return strings.Join(lines, " ")
}

// Confirmed answers a yes.
func Confirmed(q Question) string {
	return say(q.Lang, "Då vet jag: «%s» är %s ✔", "Got it: «%s» is %s ✔", q.Phrase, q.Name)
}

// Corrected answers a correction.
func Corrected(lang Lang, phrase, name string) string {
	return say(lang, "Rättat: «%s» är %s ✔", "Corrected: «%s» is %s ✔", phrase, name)
}

// Meant asks for the name that a bare no left out.
func Meant(q Question) string {
	return say(q.Lang, "Vad betyder «%s» då? Skriv: nej, %[1]s betyder …", "What does «%s» mean then? Write: no, %[1]s means …", q.Phrase)
}

// Taught answers a new phrase.
func Taught(lang Lang, phrase, name string) string {
	return say(lang, "Jag har lärt mig: «%s» är %s ✔", "Learned: «%s» is %s ✔", phrase, name)
}

// Taken says what a phrase stands for already, and how to correct it.
func Taken(lang Lang, phrase, owner, name string) string {
	return say(lang, "«%[1]s» är redan %[2]s. Skriv: nej, %[1]s betyder %[3]s", "«%[1]s» is %[2]s already. Write: no, %[1]s means %[3]s", phrase, owner, name)
}

// Hello answers somebody who said their name.
func Hello(lang Lang, name string) string { return say(lang, "Hej %s!", "Hello %s!", name) }

// NameTaken says that the name is somebody else's.
func NameTaken(lang Lang, name string) string {
	return say(lang, "Någon annan heter redan %s här.", "Somebody else is called %s here.", name)
}

// LastDone answers who or when: at is in the household's zone.
func LastDone(lang Lang, person, name string, at time.Time) string {
	return say(lang, "%s: %s, %s", "%s: %s, %s", name, person, at.Format("2006-01-02 15:04"))
}

// NeverDone answers who or when with never; person is "" if nobody ever did it.
func NeverDone(lang Lang, person, name string) string {
	return say(lang, "%s aldrig, vad jag vet", "%s never, as far as I know", strings.TrimSpace(name+": "+person))
}

// Times answers how often; person is "" for everybody.
func Times(lang Lang, person, name string, n int) string {
	if person == "" {
		return say(lang, "%s den här veckan: %d", "%s this week: %d", name, n)
	}
	return say(lang, "%s den här veckan av %s: %d", "%s this week by %s: %d", name, person, n)
}

// NoSuchPerson says that a question named nobody the bot knows.
func NoSuchPerson(lang Lang) string {
	return say(lang, "Vem? Säg «jag heter …», så vet jag.", "Who? Say «my name is …», and I will know.")
}

// NoSuchActivity says that a question left out what was done.
func NoSuchActivity(lang Lang) string {
	return say(lang, "Vad då? Nämn en syssla, som disken.", "Did what? Name a chore, such as the dishes.")
}

var english = words.Set("the and did done cleaned cooked vacuumed laundry dishes went took")

// LooksEnglish reports whether a word of the text shows that it is English
// rather than Swedish.
func LooksEnglish(text string) bool {
	return slices.ContainsFunc(words.Keys(text), func(word string) bool { return english[word] })
}
