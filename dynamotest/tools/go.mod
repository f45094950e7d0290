module github.com/homeops/ddbpatterns/dynamotest/tools

go 1.26.0

replace github.com/homeops/ddbpatterns => ../../

require (
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.73.1
	github.com/google/go-cmp v0.7.0
	github.com/homeops/ddbpatterns v0.0.0
)

require (
	github.com/aws/aws-sdk-go-v2 v1.47.7 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.10 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.24 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.10 // indirect
	github.com/aws/smithy-go v1.28.8 // indirect
)
