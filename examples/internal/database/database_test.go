package database_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/env"
)

func load(values map[string]string) (database.Settings, error) {
	r := env.NewReader(func(name string) (string, bool) { value, ok := values[name]; return value, ok })
	s := database.FromEnv(r, "eu-north-1")
	return s, r.Err()
}

// The SDK's own variable counts if the example's is not set.
func TestRegion(t *testing.T) {
	t.Parallel()
	for want, values := range map[string]map[string]string{
		"eu-north-1":     nil,
		"us-east-1":      {"AWS_REGION": "us-east-1"},
		"eusc-de-east-1": {"AWS_REGION": "eusc-de-east-1"}, // set by Lambda in the sovereign cloud
		"us-west-2":      {"AWS_REGION": "us-east-1", "DYNAMO_REGION": "us-west-2"},
	} {
		if got, err := load(values); err != nil || got.Region != want {
			t.Errorf("%v: %+v, %v", values, got, err)
		}
	}
	for name, value := range map[string]string{"AWS_REGION": "Stockholm", "DYNAMO_REGION": "Oregon", "DYNAMO_ENDPOINT": "localhost:8000"} {
		if _, err := load(map[string]string{name: value}); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values    map[string]string
		aws, half bool
	}{
		"none":             {nil, false, false},
		"empty":            {map[string]string{"AWS_PROFILE": ""}, false, false},
		"a key":            {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x"}, true, false},
		"an id":            {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, true, true},
		"a secret":         {map[string]string{"AWS_SECRET_ACCESS_KEY": "x"}, true, true},
		"a profile and id": {map[string]string{"AWS_PROFILE": "default", "AWS_ACCESS_KEY_ID": "AKIA"}, true, true},
		"a profile":        {map[string]string{"AWS_PROFILE": "default"}, true, false},
		"a pod":            {map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}, true, false},
		"a task":           {map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2"}, true, false},
		"a machine":        {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://h"}, true, false},
	} {
		got, err := load(tc.values)
		if err != nil || got.AWS != tc.aws || (got.AWSError != nil) != tc.half || got.Embedded() == tc.aws {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// An endpoint comes before AWS, and without either the database is in this process.
func TestOpen(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer server.Close()
	for name, tc := range map[string]struct {
		settings database.Settings
		where    string
		embedded bool
	}{
		"nothing":     {database.Settings{Region: "eu-north-1"}, "DynamoDB inside this process", true},
		"an endpoint": {database.Settings{Endpoint: server.URL, AWS: true, Region: "eu-north-1"}, "DynamoDB at " + server.URL, false},
		"no AWS":      {database.Settings{Endpoint: server.URL, Region: "eu-north-1"}, "DynamoDB at " + server.URL, false},
	} {
		db, err := database.Open(t.Context(), tc.settings, time.Now)
		if err != nil || db.Where != tc.where || (db.Embedded != nil) != tc.embedded || tc.settings.Embedded() != tc.embedded {
			t.Errorf("%s: %+v, %v", name, db, err)
			continue
		}
		if _, err := db.Client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	db, err := database.Open(t.Context(), database.Settings{AWS: true, Region: "us-west-2"}, time.Now)
	if err != nil || db.Where != "DynamoDB in us-west-2" || db.Client.Options().Region != "us-west-2" || db.Embedded != nil {
		t.Errorf("AWS: %+v, %v", db, err)
	}
}
