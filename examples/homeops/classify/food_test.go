package classify_test

import (
	"strings"
	"testing"
)

// Food that is ready, or that somebody has fixed, was not bought.
func TestFoodThatIsReadyIsNotShopping(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Maten är klar!": "", "Maten klar": "", "Mat fixad": "", "Bröd klart": "", "Mjölken är slut, bröd klart": "", "Bread is done": "",
		"Har lagat mat ✅": "matlagning", "Fixat mat": "matlagning", "Maten lagad och klar": "matlagning",
		"Köpt mat och bröd": "handling", "Bought bread": "handling", "Handlingen är klar": "handling", "Groceries done": "handling",
	} {
		if got, asked := facts(t, text); strings.Join(got, ",") != want || asked != "" {
			t.Errorf("%q is %v, asks %q, want %q", text, got, asked, want)
		}
	}
}
