package dialog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

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
