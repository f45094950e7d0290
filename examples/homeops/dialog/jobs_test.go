package dialog_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// When a text that the bot said unasked comes back in a reply, it is neither a
// request to the bot nor one of its questions.
func TestWhatIsSaidUnasked(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"Anna brukar diska nu.":                                dialog.Suggestion(dialog.Swedish, "Anna", "diska", "diskning"),
		"Anna usually does the dishes now.":                    dialog.Suggestion(dialog.English, "Anna", "does the dishes", "diskning"),
		"Anna brukar göra det här nu: hundvakt.":               dialog.Suggestion("", "Anna", "", "hundvakt"),
		"Anna usually does this now: hundvakt.":                dialog.Suggestion(dialog.English, "Anna", "", "hundvakt"),
		"Bo, du lovade «städa på lördag». Hur går det?":        dialog.Reminder("", "Bo", "städa på lördag"),
		"Bo, you promised «clean on Monday». How is it going?": dialog.Reminder(dialog.English, "Bo", "clean on Monday"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, ok := dialog.Asked(got); ok {
			t.Errorf("%q asks what somebody meant", got)
		}
		if intent, ok := dialog.Understand(got); ok {
			t.Errorf("%q wants %+v", got, intent)
		}
	}
}
