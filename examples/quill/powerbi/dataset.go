package powerbi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// ErrCreateRefused is wrapped by Create's error when Power BI refuses to create a
// dataset, for example with the code FeatureDeprecatedError: Microsoft has
// announced the end of push semantic models for 2027-10-31.
var ErrCreateRefused = errors.New("powerbi: the dataset was not created")

type (
	datasetBody struct {
		Name   string      `json:"name"`
		Mode   string      `json:"defaultMode"`
		Tables []tableBody `json:"tables"`
	}
	tableBody struct {
		Name     string        `json:"name"`
		Columns  []columnBody  `json:"columns"`
		Measures []measureBody `json:"measures"`
	}
	columnBody struct {
		Name string `json:"name"`
		Type string `json:"dataType"`
	}
	measureBody struct {
		Name string `json:"name"`
		DAX  string `json:"expression"`
	}
)

// Create creates a dataset with fact.Tables in the workspace and returns its id.
// The dataset keeps all rows, up to 5,000,000 a table. A second dataset with the
// same name is possible: after an error that is not ErrCreateRefused, look into the
// workspace first.
func (c *Client) Create(ctx context.Context, name string) (id string, err error) {
	if err := c.check(field{"name", name}); err != nil {
		return "", err
	}
	body, err := json.Marshal(bodyOf(name, fact.Tables))
	if err != nil {
		return "", fmt.Errorf("powerbi: %w", err)
	}
	a, err := c.call(ctx, c.datasets()+"?defaultRetentionPolicy=None", body)
	var unsent *unsentError
	switch {
	case errors.As(err, &unsent):
		return "", err
	case err != nil:
		return "", fmt.Errorf("powerbi: the dataset may have been created: %w", err)
	}
	var made struct {
		ID string `json:"id"`
	}
	switch {
	case a.status == http.StatusCreated, a.status == http.StatusAccepted:
		if json.Unmarshal(a.text(), &made) == nil && made.ID != "" {
			return made.ID, nil
		}
	case a.definite():
		return "", fmt.Errorf("%w: %w", ErrCreateRefused, a.refusal())
	}
	return "", fmt.Errorf("powerbi: the dataset may have been created: status %d", a.status)
}

func bodyOf(name string, tables []fact.Table) datasetBody {
	body := datasetBody{Name: name, Mode: "Push"}
	for _, t := range tables {
		made := tableBody{Name: t.Name}
		for _, column := range t.Columns {
			made.Columns = append(made.Columns, columnBody(column))
		}
		for _, measure := range t.Measures {
			made.Measures = append(made.Measures, measureBody(measure))
		}
		body.Tables = append(body.Tables, made)
	}
	return body
}
