package env_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/env"
)

func reader(values map[string]string) *env.Reader {
	return env.NewReader(func(name string) (string, bool) { value, ok := values[name]; return value, ok })
}

var word = env.Form{Pattern: regexp.MustCompile(`^[a-z]+$`), Want: "a word"}

// A variable that is set but empty counts as not set.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]map[string]string{
		"not set": nil, "empty": {"TEXT": "", "SECRET": "", "DAYS": "", "URL": ""},
	} {
		r := reader(values)
		text, secret := r.Text("TEXT", "otherwise", word), r.Secret("SECRET", word)
		days, url := r.Days("DAYS", 14, 1, 20, "why"), r.URL("URL", "http://h", "http://h")
		if text != "otherwise" || secret != "" || days != 14*24*time.Hour || url != "http://h" || r.Err() != nil {
			t.Errorf("%s: %q, %q, %v, %q, %v", name, text, secret, days, url, r.Err())
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"TEXT": "text", "SECRET": "secret", "LEAST": "1", "MOST": "20", "URL": "https://h:1/path"})
	if r.Text("TEXT", "", word) != "text" || r.Secret("SECRET", word) != "secret" || r.URL("URL", "", "") != "https://h:1/path" {
		t.Error("not what is set")
	}
	if r.Days("LEAST", 14, 1, 20, "") != 24*time.Hour || r.Days("MOST", 14, 1, 20, "") != 20*24*time.Hour || r.Err() != nil {
		t.Errorf("bounds: %v", r.Err())
	}
}

// The error names everything that is wrong, and does not show a secret.
func TestWrong(t *testing.T) {
	t.Parallel()
	r := reader(map[string]string{"TEXT": "NO WORD", "SECRET": "hunter2"})
	r.Text("TEXT", "", word)
	r.Secret("SECRET", word)
	if err := r.Err(); err == nil || err.Error() != "TEXT: must be a word, is \"NO WORD\"\nSECRET: must be a word" {
		t.Errorf("got %v", err)
	}
	for _, days := range []string{"0", "21", "1.5", "x"} {
		r := reader(map[string]string{"DAYS": days})
		r.Days("DAYS", 14, 1, 20, "this is why")
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), "DAYS: must be a whole number of days from 1 to 20") || !strings.HasSuffix(err.Error(), ": this is why") {
			t.Errorf("%s days: %v", days, err)
		}
	}
	for _, url := range []string{"h:1", "ftp://h", "http://", "http://h?x=1", "http://h?", "http://h#x", "http://u:p@h", "http://h\x7f"} {
		r := reader(map[string]string{"URL": url})
		r.URL("URL", "", "http://such")
		if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), "URL: must be a URL") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		form env.Form
		want bool
	}{
		"ab":                     {env.TableName, false},
		"a.b":                    {env.TableName, true},
		"a/b":                    {env.TableName, false},
		strings.Repeat("a", 256): {env.TableName, false},
		"us-west-2":              {env.Region, true},
		"us-gov-west-1":          {env.Region, true},
		"Oregon":                 {env.Region, false},
	} {
		if got := tc.form.Pattern.MatchString(name); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDistinct(t *testing.T) {
	t.Parallel()
	r := reader(nil)
	r.Distinct(env.Table{Variable: "A", Name: "one"}, env.Table{Variable: "B", Name: "two"})
	if r.Err() != nil {
		t.Error(r.Err())
	}
	r.Distinct(env.Table{Variable: "A", Name: "one"}, env.Table{Variable: "B", Name: "one"})
	if err := r.Err(); err == nil || err.Error() != `B: must not be "one", which is the table of A` {
		t.Errorf("got %v", err)
	}
}
