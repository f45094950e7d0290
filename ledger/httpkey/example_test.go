package httpkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/schema"
)

// charge is an ordinary handler. It runs again after a crash.
func charge(w http.ResponseWriter, r *http.Request) {
	claim, _ := httpkey.FromContext(r.Context())
	ev, err := claim.Event() // the provider's key: the same in each attempt
	if err == nil {
		err = chargeCard(r.Context(), ev.String(), r.FormValue("card"))
	}
	if err != nil { // not stored: the next request with the key tries again
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusCreated) // stored: each repetition gets it
}

// chargeCard stands for a provider, which charges once for each key.
func chargeCard(_ context.Context, _, card string) error {
	fmt.Println("charge", card)
	return nil
}

// newCharges returns the handler of POST /charges, on a table that exists.
func newCharges(db *dynamodb.Client, customer func(*http.Request) string) (http.Handler, error) {
	answers, err := ledger.New(db, "answers", nil)
	if err != nil {
		return nil, err
	}
	keys, err := httpkey.New(answers, customer, nil)
	if err != nil {
		return nil, err
	}
	return keys.Handler(http.HandlerFunc(charge)), nil
}

func ExampleKeys_Handler() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // in production dynamodb.NewFromConfig(cfg)
	answers, err := ledger.New(db, "answers", nil)
	if err == nil {
		err = schema.Create(ctx, db, answers.Table())
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := newCharges(db, func(*http.Request) string { return "customer-17" })
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/charges", strings.NewReader("card=1001"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Idempotency-Key", `"order-42"`)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, "replayed:", w.Header().Get("Idempotent-Replayed") == "true")
	}
	// Output:
	// charge 1001
	// 201 replayed: false
	// 201 replayed: true
}

// The order and the answer to its request are one transaction.
func ExampleAdd() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	answers, err1 := ledger.New(db, "answers", nil)
	keys, err2 := httpkey.New(answers, func(*http.Request) string { return "customer-17" }, nil)
	err3 := schema.Create(ctx, db, answers.Table(), schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("id")}})
	if err := errors.Join(err1, err2, err3); err != nil {
		panic(err)
	}
	handler := keys.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		order := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: r.FormValue("number")}}
		if err := httpkey.Add(r.Context(), types.TransactWriteItem{Put: &types.Put{TableName: aws.String("orders"), Item: order}}); err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	r := httptest.NewRequest(http.MethodPost, "/orders?number=42", strings.NewReader("lamp"))
	r.Header.Set("Idempotency-Key", `"order-42"`)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output: 201
}
