package bind

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// statements is the cache of parsed statements; see conditions.
var statements cache[*partiql.Statement]

// Statement parses a statement and fills in its parameters. An invalid parameter
// is reported first. table returns the error of a well-formed statement for its
// table, which is reported before other errors of the statement; it may be nil.
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
