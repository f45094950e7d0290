package classify

import (
	_ "embed"
	"strings"
)

// role is what a word does in a sentence: see roles.txt. A word in no list is
// other.
type role string

const (
	other role = ""
	did   role = "did"   // something done begins here
	thing role = "thing" // what it was done to, by vocabulary.txt
	named role = "named" // somebody the chat knows

	sender, stranger, helper, aside, article, prep role = "sender", "stranger", "helper", "aside", "article", "prep"
	and, then, turn, relative, asking              role = "and", "then", "turn", "relative", "asking"
	not, doubt, void                               role = "not", "doubt", "void"
)

//go:embed roles.txt
var rolesText string

// roles has the role of each word, marked the words of each mark.
var roles, marked = readRoles()

func readRoles() (roles map[string]role, marked map[string]map[string]bool) {
	roles, marked = map[string]role{}, map[string]map[string]bool{}
	for line := range strings.Lines(rolesText) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		mark, besides := strings.CutPrefix(f[0], "=")
		if besides && marked[mark] == nil {
			marked[mark] = map[string]bool{}
		}
		for _, key := range f[1:] {
			if besides {
				marked[mark][key] = true
			} else {
				roles[key] = role(f[0])
			}
		}
	}
	return roles, marked
}
