package main

import (
	"context"
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/facts"
)

//go:embed page.md
var pageText string

var pageTemplate = template.Must(template.New("page.md").Parse(pageText))

//go:embed peers
var peerFiles embed.FS

func page(ctx context.Context) (string, error) {
	all, err := facts.All()
	if err != nil {
		return "", err
	}

	ours, differing, err := held(ctx, all)
	if err != nil {
		return "", err
	}

	unseen := 0
	for _, fact := range all {
		if fact.Seen == "" {
			unseen++
		}
	}

	others, err := peers()
	if err != nil {
		return "", err
	}

	there, missing := operations()
	absent, err := byFeature(missing)
	if err != nil {
		return "", err
	}

	var b strings.Builder
	err = pageTemplate.Execute(&b, map[string]any{
		"Table":     table(ours, others),
		"Differing": differing,
		"Unseen":    unseen,
		"There":     code(there),
		"Streams":   code(api.Operations(api.Streams)),
		"Absent":    absent,
	})

	return b.String(), err
}

// held asks dynamotest whether the facts hold, and returns the ids of those that do not.
func held(ctx context.Context, all []facts.Fact) (counts facts.Counts, differing []string, err error) {
	runner, err := facts.NewRunner(facts.Over(dynamotest.NewServer(nil).Transport(), "http://dynamotest.invalid", nil), "inmemory")
	if err != nil {
		return nil, nil, err
	}

	for _, fact := range all {
		differs, err := runner.Run(ctx, fact)
		if err != nil {
			return nil, nil, err
		}
		counts.Add(fact, differs == "")
		if differs != "" {
			differing = append(differing, fact.ID)
		}
	}
	return counts, differing, nil
}

// A peer is another server.
type peer struct {
	name   string // with its version, and when it was asked
	counts facts.Counts
}

func peers() ([]peer, error) {
	entries, err := peerFiles.ReadDir("peers")
	if err != nil {
		return nil, err
	}

	var all []peer
	for _, entry := range entries {
		text, err := peerFiles.ReadFile("peers/" + entry.Name())
		if err != nil {
			return nil, err
		}
		name, rest, _ := strings.Cut(string(text), "\n")
		counts, err := facts.ParseCounts(rest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		all = append(all, peer{strings.TrimPrefix(name, "# "), counts})
	}

	return all, nil
}

// table returns a table in Markdown with a line for each group, and one for the
// total.
func table(ours facts.Counts, others []peer) string {
	var b strings.Builder
	b.WriteString("| facts | of | dynamotest |")
	for _, p := range others {
		b.WriteString(" " + p.name + " |")
	}

	b.WriteString("\n|---|--:|--:|" + strings.Repeat("--:|", len(others)) + "\n")
	for _, one := range append(ours[:len(ours):len(ours)], ours.Sum()) {
		fmt.Fprintf(&b, "| %s | %d | %d |", one.Group, one.Of, one.Held)
		for _, p := range others {
			b.WriteString(" " + cell(one, p.counts) + " |")
		}
		b.WriteString("\n")
	}

	return strings.TrimSuffix(b.String(), "\n")
}

// cell writes how many facts of a group hold for a peer. The peer was asked fewer
// facts if some were added since.
func cell(of facts.Count, counts facts.Counts) string {
	for _, one := range append(counts, counts.Sum()) {
		switch {
		case one.Group == of.Group && one.Of == of.Of:
			return fmt.Sprint(one.Held)
		case one.Group == of.Group:
			return fmt.Sprintf("%d of %d", one.Held, one.Of)
		}
	}
	return ""
}

// operations returns the SDK's operations that the engine has, and those that it
// lacks.
func operations() (there, missing []string) {
	client := reflect.TypeFor[*dynamodb.Client]()
	for i := range client.NumMethod() {
		name := client.Method(i).Name
		switch {
		case name == "Options": // the only method that is not an operation
		case api.OperationNamed(name) != nil:
			there = append(there, name)
		default:
			missing = append(missing, name)
		}
	}
	return there, missing
}

// features are the features that dynamotest does not have. An operation belongs to
// the first one whose part is in its name.
var features = []struct{ name, part string }{
	{"Vector search", "Vector"},
	{"Restoring a table", "Restore"},
	{"Backups on demand", "Backup"},
	{"Scaling of replicas", "ReplicaAutoScaling"},
	{"Global tables of 2017", "GlobalTable"},
	{"Exports to S3", "Export"},
	{"Imports from S3", "Import"},
	{"Writes in bulk from S3", "Bulk"},
	{"Kinesis streams", "Kinesis"},
	{"Contributor insights", "ContributorInsights"},
	{"Resource policies", "ResourcePolicy"},
}

// An absence is a feature that dynamotest lacks, with its operations.
type absence struct{ Feature, Operations string }

func byFeature(missing []string) ([]absence, error) {
	left := slices.Clone(missing)
	var all []absence
	for _, f := range features {
		var names []string
		left = slices.DeleteFunc(left, func(name string) bool {
			fits := strings.Contains(name, f.part)
			if fits {
				names = append(names, name)
			}
			return fits
		})
		if len(names) == 0 {
			return nil, fmt.Errorf("dynamotest does not lack %s: it has all operations of the feature", f.name)
		}
		all = append(all, absence{f.name, code(names)})
	}

	if len(left) > 0 {
		return nil, fmt.Errorf("missing operations that are part of no known feature: %q", left)
	}
	return all, nil
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
