package bind

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// statements are the parsed sources; see conditions.
var statements cache[*partiql.Statement]

// Statement parses a statement and fills in its parameters, of which a
// wrong one is reported first.
func Statement(s *api.Statement) (*partiql.Bound, *api.Error) {
	if s.ParametersErr != nil {
		return nil, api.Wrong(s.ParametersErr)
	}
	stmt, err := statements.get(s.Text.Value, partiql.Parse)
	if err != nil {
		return nil, api.Wrong(err)
	}
	b, err := stmt.Bind(s.Parameters)
	if err != nil {
		return nil, api.Wrong(err)
	}
	return b, nil
}
