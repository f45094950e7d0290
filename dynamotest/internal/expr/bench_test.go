package expr_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

func BenchmarkParseCondition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.ParseCondition(expr.FilterExpression, "attribute_not_exists(#a) OR (#b < :n AND size(#c) > :m)"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCondition(b *testing.B) {
	c, err := expr.ParseCondition(expr.FilterExpression, "attribute_not_exists(#a) OR (#b > :n AND #c[0] = :n)")
	if err != nil {
		b.Fatal(err)
	}
	p, it := fuzzParams(b), item(b, sample)
	b.ReportAllocs()
	for b.Loop() {
		where, err := c.Bind(p)
		if err != nil || !where.Match(it) {
			b.Fatal("no match", err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	u, err := expr.ParseUpdate("SET #a = :s, m.k = :n ADD #b :n")
	if err != nil {
		b.Fatal(err)
	}
	p, it := fuzzParams(b), item(b, sample)
	b.ReportAllocs()
	for b.Loop() {
		change, err := u.Bind(p)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := change.Apply(it); err != nil {
			b.Fatal(err)
		}
	}
}
