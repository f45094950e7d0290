package schema_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/homeops/ddbpatterns/schema"
)

// orders is a store of a service's own.
type orders struct{}

func (orders) Table() schema.Table {
	return schema.Table{
		Name:    "orders",
		Key:     schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")},
		Indexes: []schema.Index{{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}}},
	}
}

func (orders) Actions() schema.Actions {
	return schema.Actions{
		Service:   schema.Grants{"": {"PutItem", "GetItem"}, "by-day": {"Query"}},
		Operators: schema.Grants{"": {"Scan"}},
	}
}

func ExamplePolicy() {
	doc, err := schema.Policy(orders{})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//   "Version": "2012-10-17",
	//   "Statement": [
	//     {
	//       "Effect": "Allow",
	//       "Action": [
	//         "dynamodb:GetItem",
	//         "dynamodb:PutItem"
	//       ],
	//       "Resource": [
	//         {
	//           "Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/orders"
	//         }
	//       ]
	//     },
	//     {
	//       "Effect": "Allow",
	//       "Action": [
	//         "dynamodb:Query"
	//       ],
	//       "Resource": [
	//         {
	//           "Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/orders/index/by-day"
	//         }
	//       ]
	//     }
	//   ]
	// }
}
