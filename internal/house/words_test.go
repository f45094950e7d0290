package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tellTales are forms that make a reader stop, each with a text that it has, which
// is found faster, and a better form. CONTRIBUTING.md has the rule behind them.
var tellTales = []struct {
	has  string
	form *regexp.Regexp
	say  string
}{
	{"tells whether", regexp.MustCompile(`\btells whether\b`), "reports whether"},
	{" none", regexp.MustCompile(`([Tt]here )?\b(is|are|was|were) none\b`), "is not one, or: does not exist"},
	{" no ", regexp.MustCompile(`([Tt]here )?\b(is|are|was|were) no [a-z]+`), "is not a"},
	{"there ", regexp.MustCompile(`\bthere (is|are|was|were)([.,;:)]|$)`), "exists, or: existing"},
	{" there ", regexp.MustCompile(`\b(which|that|what) there (is|are|was|were)\b`), "existing"},
	{"shall", regexp.MustCompile(`\bshall\b`), "must, or: is to"},
	{"but ", regexp.MustCompile(`\bbut (that|for) (a|an|the|it|one|what|this|those|these|its)\b`), "except"},
	{"be ", regexp.MustCompile(`\bbe (it|they) `), "whether"},
	{"that which", regexp.MustCompile(`\bthat which\b`), "what"},
	{"hoever", regexp.MustCompile(`\b[Ww]hoever\b`), "if somebody, or the noun"},
	{"esides", regexp.MustCompile(`\b[Bb]esides[,.;]`), "also"},
	{", nor ", regexp.MustCompile(`, nor (is|are|does|do|was|were) `), "a sentence of its own"},
	{"None ", regexp.MustCompile(`\bNone (is|are) `), "no X is"},
}

// plain matches text that the forms catch and should not.
var plain = regexp.MustCompile(`^([Tt]here (is|are|was|were) (no|none)\b|(which|that|what) there (is|are|was|were) no\b|(is|are|was|were) no (longer|more|less|fewer|earlier|later|bigger|larger|slower|faster|older|newer)\b)`)

func TestPlainWords(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, group := range f.file.Comments {
			findTellTales(t, f.at(group), group.Text())
		}
		if f.test || f.in("dynamotest/internal") { // its texts imitate AWS
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value) // the parser saw a string
				findTellTales(t, f.at(lit), text)
			}
			return true
		})
	}
	for _, page := range everyPage(t) {
		findTellTales(t, page, withoutCode(read(t, page)))
	}
}

var paragraphs = regexp.MustCompile(`\n\s*(\n|- |\d+\. |\|)|\|`)

// findTellTales reads a text paragraph by paragraph, because a sentence may
// continue in the next line.
func findTellTales(t *testing.T, where, text string) {
	t.Helper()
	for _, paragraph := range paragraphs.Split(text, -1) {
		words := strings.Join(strings.Fields(paragraph), " ")
		for _, tale := range tellTales {
			if !strings.Contains(words, tale.has) {
				continue
			}
			for _, at := range tale.form.FindAllStringIndex(words, -1) {
				if !plain.MatchString(words[at[0]:]) {
					t.Errorf("%s: …%s…: say %s", where, words[max(0, at[0]-30):min(len(words), at[1]+20)], tale.say)
				}
			}
		}
	}
}

// withoutCode removes code from a page, in blocks and in lines, and the page's
// examples of what not to write.
func withoutCode(page string) string {
	page = regexp.MustCompile("(?s)<!-- plain words: off -->.*?<!-- plain words: on -->").ReplaceAllString(page, "")
	page = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "CODE")
}
