package cookbook

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"
)

// Spans makes each request of a client a span, with the name of its table.
func Spans(provider tracing.TracerProvider) func(*dynamodb.Options) {
	name := middleware.InitializeMiddlewareFunc("TableName", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		span, _ := tracing.GetSpan(ctx)
		if table := reflect.ValueOf(in.Parameters).Elem().FieldByName("TableName"); table.IsValid() && !table.IsNil() {
			span.SetProperty("aws.dynamodb.table_names", []string{table.Elem().String()})
		}
		return next.HandleInitialize(ctx, in)
	})
	return func(o *dynamodb.Options) {
		o.TracerProvider = provider
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error { return s.Initialize.Add(name, middleware.Before) })
	}
}
