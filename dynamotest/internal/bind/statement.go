package bind

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// statements are the parsed sources; see conditions.
var statements cache[*partiql.Statement]

// Statement parses a statement and fills in its parameters, of which a wrong one
// is reported first. A table that refuses a statement does so once that is
// well-formed, before anything that is said of what the statement asks; it may be
// nil.
func Statement(s *api.Statement, table func(*partiql.Statement) *api.Error) (*partiql.Bound, *api.Error) {
	if s.ParametersErr != nil {
		return nil, api.Wrong(s.ParametersErr)
	}
	stmt, err := statements.get(s.Text.Value, partiql.Parse)
	if err != nil {
		return nil, api.Wrong(err)
	}
	if table != nil {
		if err := table(stmt); err != nil {
			return nil, err
		}
	}
	b, err := stmt.Bind(s.Parameters)
	if err != nil {
		return nil, api.Wrong(err)
	}
	return b, nil
}
