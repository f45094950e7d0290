package main

import (
	_ "embed"
	"reflect"
	"strings"
	"text/template"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

//go:embed page.md
var pageText string

var pageTemplate = template.Must(template.New("page.md").Parse(pageText))

// page is the page for the given results.
func page(resultsText string) (string, error) {
	r, err := parseResults(resultsText)
	if err != nil {
		return "", err
	}
	there, missing := operations()
	var b strings.Builder
	err = pageTemplate.Execute(&b, map[string]any{
		"Table":    strings.TrimSuffix(r.table(), "\n"),
		"Failures": r.failures(),
		"There":    code(there),
		"Streams":  code(api.Operations(api.Streams)),
		"Missing":  code(missing),
	})
	return b.String(), err
}

// operations tells which of the SDK's operations the engine has.
func operations() (there, missing []string) {
	client := reflect.TypeFor[*dynamodb.Client]()
	for i := range client.NumMethod() {
		name := client.Method(i).Name
		switch {
		case name == "Options": // the only method that is no operation
		case api.OperationNamed(name) != nil:
			there = append(there, name)
		default:
			missing = append(missing, name)
		}
	}
	return there, missing
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
