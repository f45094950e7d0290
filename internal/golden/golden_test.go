package golden_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/golden"
)

const every = `{
  "b": {
    "B": "AAH/"
  },
  "l": {
    "L": [
      {
        "N": "1"
      },
      {
        "M": {
          "å": {
            "S": ""
          }
        }
      }
    ]
  },
  "no": {
    "NULL": true
  },
  "yes": {
    "BOOL": false
  }
}`

func TestFormatUndoesParse(t *testing.T) {
	t.Parallel()
	it, err := golden.Parse([]byte(every))
	if err != nil {
		t.Fatal(err)
	}
	if got := golden.Format(it); got != every {
		t.Errorf("Format(Parse) = %s", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON": `{`, "no type": `{"a": {}}`, "a set": `{"a": {"SS": ["x"]}}`,
		"deep": `{"a": {"L": [{"M": {"b": {"X": 1}}}]}}`,
	} {
		if it, err := golden.Parse([]byte(text)); err == nil {
			t.Errorf("%s: %v", name, it)
		}
	}
}
