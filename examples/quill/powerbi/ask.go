package powerbi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// Posted asks the dataset for the keys of the batch, by executeQueries, which is
// allowed 120 times a minute.
//
// It can be refused: the tenant's setting "Dataset Execute Queries REST API" must
// be on, and the application needs the dataset's build permission. That is
// documented. The form of the refusal is not, so every refusal is
// sink.ErrCannotAsk, with a *RefusedError that says why.
func (c *Client) Posted(ctx context.Context, table, batch string) ([]string, error) {
	if err := c.check(field{"Client.Dataset", c.Dataset}, field{"table", table}, field{"batch", batch}); err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"queries":            []map[string]string{{"query": question(table, batch)}},
		"serializerSettings": map[string]bool{"includeNulls": true},
	})
	if err != nil {
		return nil, fmt.Errorf("powerbi: %w", err)
	}
	a, err := c.call(ctx, c.dataset("executeQueries"), body)
	switch {
	case err != nil:
		return nil, later(ctx, err)
	case a.status == http.StatusOK:
		return a.keys()
	case a.status == http.StatusTooManyRequests, !a.definite(): // asking again does no harm
		return nil, &sink.WaitError{After: a.retryAfter(c.now()), Err: a.refusal()}
	}
	return nil, cannotAsk(a.refusal())
}

// question is the query for the keys of the batch.
func question(table, batch string) string {
	name := "'" + strings.ReplaceAll(table, "'", "''") + "'"
	text := `"` + strings.ReplaceAll(batch, `"`, `""`) + `"`
	return fmt.Sprintf(`EVALUATE SELECTCOLUMNS(FILTER(%[1]s, %[1]s[batch] = %[2]s), "key", %[1]s[key])`, name, text)
}

// cannotAsk wraps a refusal of the question. Public reports show a 401 or 403 with
// PowerBINotAuthorizedException if a permission is missing, and
// PowerBIEntityNotFound for a role that may not ask. Whatever the reason, asking
// again would hold up every post until a person comes.
func cannotAsk(r *RefusedError) error { return fmt.Errorf("%w: %w", sink.ErrCannotAsk, r) }

// result is the answer to a question. Each level may have an error, and is then
// incomplete or empty.
type result struct {
	Error   *failure `json:"error"`
	Results []struct {
		Error  *failure `json:"error"`
		Tables []struct {
			Error *failure `json:"error"`
			Rows  []struct {
				// A column that the query renames has brackets around its name.
				Key *string `json:"[key]"`
			} `json:"rows"`
		} `json:"tables"`
	} `json:"results"`
}

// keys reads the answer. An incomplete answer, or one of another form, is an error,
// not an answer with fewer rows.
func (a answer) keys() ([]string, error) {
	if a.torn != nil {
		return nil, &sink.WaitError{Err: fmt.Errorf("powerbi: %w", a.torn)}
	}
	var r result
	if err := json.Unmarshal(a.text(), &r); err != nil {
		return nil, &sink.WaitError{Err: fmt.Errorf("powerbi: the answer is not JSON of the expected form: %w", err)}
	}
	if f := r.failure(); f != nil {
		return nil, cannotAsk(f.refusal(a))
	}
	if len(r.Results) != 1 || len(r.Results[0].Tables) != 1 {
		return nil, &sink.WaitError{Err: errors.New("powerbi: the answer must have exactly one table")}
	}
	rows := r.Results[0].Tables[0].Rows
	keys := make([]string, len(rows))
	for i, row := range rows {
		if row.Key == nil {
			return nil, &sink.WaitError{Err: fmt.Errorf("powerbi: row %d of the answer has no key", i)}
		}
		keys[i] = *row.Key
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil // a batch that was posted twice has each key twice
}

func (r result) failure() *failure {
	if r.Error != nil {
		return r.Error
	}
	for _, one := range r.Results {
		if one.Error != nil {
			return one.Error
		}
		for _, table := range one.Tables {
			if table.Error != nil {
				return table.Error
			}
		}
	}
	return nil
}
