package alias_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// exampleBook returns a store on a database in this process, with a few phrases
// of a shop.
func exampleBook() *alias.Store {
	db := dynamotest.NewServer(nil).Client()
	book, err := alias.New(db, "aliases", nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := schema.Create(ctx, db, book.Table()); err != nil {
		log.Fatal(err)
	}
	if _, err := book.Seed(ctx, "shop-7", map[string]string{
		"trainers": "shoes", "running shoes": "shoes", "coat": "jackets", "rain coat": "rainwear", "🧢": "hats",
	}); err != nil {
		log.Fatal(err)
	}
	return book
}

// said is the event of a search made some minutes after six.
func said(minutes int, id string) event.Event {
	ev, err := event.New(time.Date(2025, 3, 3, 18, minutes, 0, 0, time.UTC), "shop", "shop-7", id)
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	book, err := alias.New(db, "aliases", nil)
	if err != nil {
		log.Fatal(err)
	}
	// People's names are in the same table, separate from the other book.
	people, err := alias.New(db, "aliases", &alias.Config{Prefix: "NAME"})
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, book.Table(), people.Table()); err != nil {
		log.Fatal(err)
	}
	_, err = people.Put(ctx, alias.Put{Scope: "shop-7", Phrase: "Åsa", Name: "42", Event: said(0, "1")})
	if err != nil {
		log.Fatal(err)
	}
	_, inBook, _ := book.Resolve(ctx, "shop-7", "åsa")
	who, inPeople, _ := people.Resolve(ctx, "shop-7", "åsa")
	fmt.Println(inBook, inPeople, who.Name)
	// Output: false true 42
}

func ExampleNormalize() {
	for _, phrase := range []string{"  Rain\n COAT ", "A\u030ak\u00a0ut", "❤\ufe0f"} {
		normal, err := alias.Normalize(phrase)
		fmt.Printf("%q %v\n", normal, err)
	}
	_, err := alias.Normalize("\u200b")
	fmt.Println(err)
	// Output:
	// "rain coat" <nil>
	// "åk ut" <nil>
	// "❤" <nil>
	// alias: phrase must hold a visible character
}

func ExampleStore_Match() {
	book := exampleBook()
	text := "A RAIN  coat, not one of those coats, and a 🧢!"
	found, err := book.Match(context.Background(), "shop-7", text)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range found {
		fmt.Printf("%q is %s\n", text[m.Start:m.End], m.Name)
	}
	// Output:
	// "RAIN  coat" is rainwear
	// "🧢" is hats
}

func ExampleStore_Put() {
	ctx, book := context.Background(), exampleBook()
	put := alias.Put{Scope: "shop-7", Phrase: "High heels", Name: "shoes", Event: said(0, "7"), Actor: "42"}
	fmt.Println(book.Put(ctx, put))
	fmt.Println(book.Put(ctx, put)) // delivered again

	put.Name, put.Event = "hats", said(5, "9")
	_, err := book.Put(ctx, put)
	var taken *alias.TakenError
	fmt.Println(errors.As(err, &taken), taken.Owner)
	// Output:
	// created <nil>
	// duplicate <nil>
	// true shoes
}

func ExampleStore_Confirm() {
	ctx, book := context.Background(), exampleBook()
	yes := alias.Confirm{Scope: "shop-7", Phrase: "running shoes", Name: "shoes", Event: said(10, "8")}
	fmt.Println(book.Confirm(ctx, yes))
	fmt.Println(book.Confirm(ctx, yes)) // delivered again

	yes.Event = said(5, "7") // sent earlier, arrives later
	fmt.Println(book.Confirm(ctx, yes))

	a, _, err := book.Resolve(ctx, "shop-7", "running shoes")
	fmt.Println(a.Confirmations, err)
	// Output:
	// created <nil>
	// duplicate <nil>
	// created <nil>
	// 2 <nil>
}

func ExampleStore_Correct() {
	ctx, book := context.Background(), exampleBook()
	no := alias.Correct{Scope: "shop-7", Phrase: "coat", Name: "coats", Event: said(10, "8"), Actor: "42"}
	fmt.Println(book.Correct(ctx, no))

	no.Name, no.Event = "hats", said(5, "7") // the later event wins, in any order of arrival
	_, err := book.Correct(ctx, no)
	fmt.Println(errors.Is(err, event.ErrSuperseded))

	a, _, err := book.Resolve(ctx, "shop-7", "coat")
	fmt.Println(a.Name, a.Source, a.LearnedFrom, err)
	// Output:
	// created <nil>
	// true
	// coats learned 42 <nil>
}

func ExampleStore_Forget() {
	ctx, book := context.Background(), exampleBook()
	fmt.Println(book.Forget(ctx, alias.Forget{Scope: "shop-7", Phrase: "🧢", Event: said(0, "7")}))
	// The next start of the program does not bring it back.
	fmt.Println(book.Seed(ctx, "shop-7", map[string]string{"🧢": "hats"}))
	_, known, err := book.Resolve(ctx, "shop-7", "🧢")
	fmt.Println(known, err)
	// Output:
	// created <nil>
	// 0 <nil>
	// false <nil>
}

func ExampleStore_Seed() {
	ctx, book := context.Background(), exampleBook()
	fmt.Println(book.Seed(ctx, "shop-7", map[string]string{"trainers": "shoes", "sneakers": "shoes"}))
	// Output: 1 <nil>
}

func ExampleStore_Get() {
	a, ok, err := exampleBook().Get(context.Background(), "shop-7", "Trainers")
	fmt.Println(a.Phrase, a.Name, a.Source, ok, err)
	// Output: trainers shoes seed true <nil>
}

func ExampleStore_All() {
	all, err := exampleBook().All(context.Background(), "shop-7")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range all {
		fmt.Printf("%s → %s\n", a.Phrase, a.Name)
	}
	// Output:
	// coat → jackets
	// rain coat → rainwear
	// running shoes → shoes
	// trainers → shoes
	// 🧢 → hats
}

func ExampleStore_Refresh() {
	ctx, book := context.Background(), exampleBook()
	all, err := book.Refresh(ctx, "shop-7") // including what other processes wrote
	fmt.Println(len(all), err)
	// Output: 5 <nil>
}

func ExampleStore_PhrasesOf() {
	phrases, err := exampleBook().PhrasesOf(context.Background(), "shop-7", "shoes")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range phrases {
		fmt.Println(a.Phrase)
	}
	// Output:
	// running shoes
	// trainers
}

// Another program wrote this row under the phrase as it was typed. A program that
// runs once, before the first start of the service, moves all such rows.
func ExampleStore_Backfill() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	book, err := alias.New(db, "aliases", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, book.Table()); err != nil {
		log.Fatal(err)
	}
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("aliases"), Item: map[string]types.AttributeValue{
		"pk": s("ALIAS#shop-7"), "sk": s("High  Heels"), "canonicalActivity": s("shoes"),
	}}); err != nil {
		log.Fatal(err)
	}

	all := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String("aliases")})
	for all.HasMorePages() {
		page, err := all.NextPage(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, row := range page.Items {
			move, needed, err := book.Backfill(row)
			if err == nil && needed {
				_, err = db.TransactWriteItems(ctx, move)
			}
			if err != nil {
				log.Print(err) // somebody must look at this row; the others go on
			}
		}
	}

	a, ok, err := book.Resolve(ctx, "shop-7", "high heels")
	fmt.Println(a.Name, ok, err)
	// Output: shoes true <nil>
}

func ExampleStore_Resolve() {
	ctx := context.Background()
	book := exampleBook()
	for _, phrase := range []string{"Running  SHOES", "boots"} {
		found, ok, err := book.Resolve(ctx, "shop-7", phrase)
		fmt.Printf("%q %v %v\n", found.Name, ok, err)
	}
	// Output:
	// "shoes" true <nil>
	// "" false <nil>
}

// A customer leaves. What the customer taught stays.
func ExampleStore_Disown() {
	ctx, book := context.Background(), exampleBook()
	no := alias.Correct{Scope: "shop-7", Phrase: "coat", Name: "coats", Event: said(10, "8"), Actor: "42"}
	fmt.Println(book.Correct(ctx, no))

	fmt.Println(book.Disown(ctx, "shop-7", "42"))
	a, _, err := book.Resolve(ctx, "shop-7", "coat")
	fmt.Printf("%s %q %v\n", a.Name, a.LearnedFrom, err)
	// Output:
	// created <nil>
	// 1 <nil>
	// coats "" <nil>
}

func ExampleStore_Erase() {
	fmt.Println(exampleBook().Erase(context.Background(), "shop-7")) // until it returns 0
	// Output: 5 <nil>
}
