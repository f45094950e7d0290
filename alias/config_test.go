package alias_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	client := dynamotest.Connect("http://dynamotest.invalid")
	for field, c := range map[string]struct {
		api   alias.API
		table string
		cfg   alias.Config
	}{
		"api":                  {nil, "homeops", alias.Config{}},
		"table":                {client, "h", alias.Config{}},
		"Config.Prefix":        {client, "homeops", alias.Config{Prefix: "A#B"}},
		`Config.Names["GSI1"]`: {client, "homeops", alias.Config{Names: map[string]string{"GSI1": "the index"}}},
		"Config.CacheTTL":      {client, "homeops", alias.Config{CacheTTL: -time.Second}},
	} {
		_, err := alias.New(c.api, c.table, &c.cfg)
		recordtest.WantBad(t, err, "alias", field)
	}
}
