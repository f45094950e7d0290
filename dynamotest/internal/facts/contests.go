package facts

import (
	"fmt"
	"slices"
)

// A contest is what racers do at once, and what is wrong afterwards, or "".
type contest struct {
	name   string
	before []string // items to put
	run    func(*racer)
	check  func(judge *racer, all []*racer) string
}

const (
	first  = `{"TableName":"$T","Item":{"pk":{"S":"$K"},"v":{"N":"1"},"w":{"N":"-1"}}}`
	second = `{"TableName":"$T","Item":{"pk":{"S":"$K b"},"v":{"N":"1"},"w":{"N":"-1"}}}`

	create = `{"TableName":"$T","Item":{"pk":{"S":"$K"},"w":{"N":"$I"}},"ConditionExpression":"attribute_not_exists(pk)"}`
	make_  = `{"TableName":"$T","Key":{"pk":{"S":"$K"}},"UpdateExpression":"SET w = :i","ConditionExpression":"attribute_not_exists(pk)","ExpressionAttributeValues":{":i":{"N":"$I"}}}`
	insert = `{"Statement":"INSERT INTO \"$T\" VALUE {'pk':'$K','w':$I}"}`

	raise  = `"UpdateExpression":"SET w = :i, v = v + :v","ConditionExpression":"v = :v","ExpressionAttributeValues":{":i":{"N":"$I"},":v":{"N":"1"}}}`
	raise1 = `{"TableName":"$T","Key":{"pk":{"S":"$K"}},` + raise
	raise2 = `{"TableName":"$T","Key":{"pk":{"S":"$K b"}},` + raise
	never  = `{"TableName":"$T","Key":{"pk":{"S":"$K b"}},"ConditionExpression":"v < :v","ExpressionAttributeValues":{":v":{"N":"1"}}}`

	remove = `{"TableName":"$T","Key":{"pk":{"S":"$K"}},"ConditionExpression":"attribute_exists(pk)"}`
	add    = `{"TableName":"$T","Key":{"pk":{"S":"$K"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}},"ReturnValues":"UPDATED_NEW"}`
	once   = `{"ClientRequestToken":"$K","TransactItems":[{"Put":{"TableName":"$T","Item":{"pk":{"S":"$K b"}},"ConditionExpression":"attribute_not_exists(pk)"}},
		{"Update":{"TableName":"$T","Key":{"pk":{"S":"$K"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`

	get   = `{"TableName":"$T","Key":{"pk":{"S":"$K"}},"ConsistentRead":true}`
	other = `{"TableName":"$T","Key":{"pk":{"S":"$K b"}},"ConsistentRead":true}`
	both  = `{"TransactItems":[{"Get":{"TableName":"$T","Key":{"pk":{"S":"$K"}}}},{"Get":{"TableName":"$T","Key":{"pk":{"S":"$K b"}}}}]}`
)

var contests = []contest{
	{"a put creates an item", nil, sends("PutItem", create), oneOwner},
	{"put, update, transaction and INSERT create an item", nil, func(w *racer) {
		[]func(*racer){
			sends("PutItem", create), sends("UpdateItem", make_),
			sends("TransactWriteItems", `{"TransactItems":[{"Put":`+create+`}]}`), sends("ExecuteStatement", insert),
		}[w.number%4](w)
	}, oneOwner},
	{"an update expects version 1", []string{first}, sends("UpdateItem", raise1), oneOwner},
	{"a delete expects the item", []string{first}, sends("DeleteItem", remove), func(judge *racer, all []*racer) string {
		_, why := winner(all)
		if why != "" || !anyWon(all) {
			return why
		}
		if _, there := at(judge.send("GetItem", get).body, "Item"); there {
			return "the item is still there"
		}
		return ""
	}},
	{"ADD counts each", nil, adds, counted},
	{"a transaction of two items, others that fail, and readers", []string{first, second}, transacts, func(judge *racer, all []*racer) string {
		if why := oneOwner(judge, all); why != "" {
			return why
		}
		if a, b := judge.send("GetItem", get), judge.send("GetItem", other); a.integer("Item.w.N") != b.integer("Item.w.N") {
			return "only one of the items is written"
		}
		return ""
	}},
	{"a transaction with one token", nil, sends("TransactWriteItems", once), func(judge *racer, all []*racer) string {
		for _, w := range all {
			if !w.won && !w.open {
				return "a repetition is told that it failed"
			}
		}
		if n := judge.send("GetItem", get).integer("Item.n.N"); n != 1 && (n != -1 || anyWon(all)) {
			return fmt.Sprintf("it took effect %d times", n)
		}
		return ""
	}},
	{"a consistent read after an ADD", nil, func(w *racer) {
		if adds(w); !w.won {
			return
		}
		if n := w.send("GetItem", get).integer("Item.n.N"); n < w.told && !w.open {
			w.wrong = fmt.Sprintf("%d is read after %d was written", n, w.told)
		}
	}, counted},
}

func sends(op, body string) func(*racer) {
	return func(w *racer) { w.won = w.send(op, body).status == 200 }
}

func adds(w *racer) {
	a := w.send("UpdateItem", add)
	w.won, w.told = a.status == 200, a.integer("Attributes.n.N")
}

// transacts makes every fourth racer write both items, and every fourth try in vain.
func transacts(w *racer) {
	switch w.number % 4 {
	case 0:
		sends("TransactWriteItems", `{"TransactItems":[{"Update":`+raise1+`},{"Update":`+raise2+`}]}`)(w)
	case 1:
		sends("TransactWriteItems", `{"TransactItems":[{"Update":`+raise1+`},{"ConditionCheck":`+never+`}]}`)(w)
	default:
		a := w.send("TransactGetItems", both)
		if a.status == 200 && a.integer("Responses.0.Item.w.N") != a.integer("Responses.1.Item.w.N") {
			w.wrong = "a transaction reads one item before and the other after a write of both"
		}
	}
}

func anyWon(all []*racer) bool {
	return slices.ContainsFunc(all, func(w *racer) bool { return w.won })
}

// winner returns the racer that won, if it is certainly the only one. Otherwise it
// returns nil and what is wrong, or "" if a missing answer leaves that open.
func winner(all []*racer) (*racer, string) {
	var won []*racer
	open := false
	for _, w := range all {
		if w.won {
			won = append(won, w)
		}
		open = open || w.open
	}

	switch {
	case len(won) > 1 || len(won) == 0 && !open:
		return nil, fmt.Sprintf("%d winners", len(won))
	case open:
		return nil, ""
	}
	return won[0], ""
}

// oneOwner checks that one has won, and has left its number.
func oneOwner(judge *racer, all []*racer) string {
	won, why := winner(all)
	if won == nil {
		return why
	}
	if left := judge.send("GetItem", get).integer("Item.w.N"); left != won.number {
		return fmt.Sprintf("racer %d won, and the item is that of %d", won.number, left)
	}
	return ""
}

// counted checks that each addition counts once and was told a number of its own.
func counted(judge *racer, all []*racer) string {
	most, won, told := 0, 0, map[int]bool{}
	for _, w := range all {
		switch {
		case w.won && told[w.told]:
			return fmt.Sprintf("two are told %d", w.told)
		case w.won:
			won++
			told[w.told] = true
		}
		if w.won || w.open {
			most++
		}
	}

	if n := judge.send("GetItem", get).integer("Item.n.N"); n < won || n > most {
		return fmt.Sprintf("the sum is %d after %d additions", n, won)
	}
	return ""
}
