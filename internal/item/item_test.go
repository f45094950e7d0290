package item_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

func TestFormatTimeHasAlwaysThreeDecimals(t *testing.T) {
	east := time.FixedZone("", 3600)
	for at, want := range map[time.Time]string{
		time.Date(2026, 3, 29, 1, 0, 0, 0, east):           "2026-03-29T00:00:00.000Z",
		time.Date(2026, 3, 29, 1, 0, 0, 500_000_000, east): "2026-03-29T00:00:00.500Z",
		time.Date(2026, 3, 29, 1, 0, 0, 999_999_999, east): "2026-03-29T00:00:00.999Z",
	} {
		if got := item.FormatTime(at); got != want {
			t.Errorf("FormatTime(%v) = %s, want %s", at, got, want)
		}
	}
}

func TestParseTimeReadsOlderForms(t *testing.T) {
	want := time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-02-17T10:30:00.000Z", "2026-02-17T10:30:00Z", "2026-02-17T11:30:00+01:00",
		"2026-02-17T11:30:00+0100", "2026-02-17T10:30:00", "2026-02-17T10:30Z",
	} {
		got, err := item.ParseTime(ddb.Item{"at": item.S(text)}, "at")
		if err != nil || !got.Equal(want) {
			t.Errorf("ParseTime(%s) = %v, %v", text, got, err)
		}
	}
	if _, err := item.ParseTime(ddb.Item{"at": item.S("yesterday")}, "at"); err == nil {
		t.Error("ParseTime(yesterday) is a time")
	}
}

func TestMillisReadsSeconds(t *testing.T) {
	want := time.Unix(1_771_324_200, 0)
	for _, n := range []int64{1_771_324_200, 1_771_324_200_000} {
		got, err := item.Millis(ddb.Item{"at": item.N(n)}, "at")
		if err != nil || !got.Equal(want) {
			t.Errorf("Millis(%d) = %v, %v", n, got, err)
		}
	}
	if got, err := item.Millis(nil, "at"); err != nil || !got.IsZero() {
		t.Errorf("absent: %v, %v", got, err)
	}
}

func TestReadersRefuseOtherTypes(t *testing.T) {
	it := ddb.Item{"s": item.S("x"), "f": item.F(1.5), "whole": item.Digits("5E+2")}
	if _, err := item.Int(it, "s"); err == nil {
		t.Error("Int of text")
	}
	if _, err := item.Int(it, "f"); err == nil {
		t.Error("Int of 1.5")
	}
	if n, err := item.Int(it, "whole"); err != nil || n != 500 {
		t.Errorf("Int of 5E+2 = %d, %v", n, err)
	}
	if _, err := item.Float(it, "s"); err == nil {
		t.Error("Float of text")
	}
	if _, err := item.Bytes(it, "s"); err == nil {
		t.Error("Bytes of text")
	}
	if _, err := item.Map(it, "s"); err == nil {
		t.Error("Map of text")
	}
	if _, err := item.ParseTime(it, "f"); err == nil {
		t.Error("ParseTime of a number")
	}
}

func TestSize(t *testing.T) {
	it := ddb.Item{
		"id":  item.S("åäö"),                                                             // 2 + 6
		"n":   item.N(-12345),                                                            // 1 + 1+3+1
		"f":   item.F(0.25),                                                              // 1 + 1+1
		"b":   item.B([]byte{1, 2, 3}),                                                   // 1 + 3
		"m":   item.M(ddb.Item{"mon": item.N(1)}),                                        // 1 + 3+1+3+2
		"l":   &types.AttributeValueMemberL{Value: []types.AttributeValue{item.S("ab")}}, // 1 + 3+1+2
		"yes": &types.AttributeValueMemberBOOL{Value: true},                              // 3 + 1
	}
	if got, want := item.Size(it), 8+6+3+4+10+7+4; got != want {
		t.Errorf("Size = %d, want %d", got, want)
	}
}

func TestCheckSize(t *testing.T) {
	fits := ddb.Item{"text": item.S(strings.Repeat("x", item.MaxSize-4))}
	if err := item.CheckSize("message", "Text", fits); err != nil {
		t.Errorf("400 KB is refused: %v", err)
	}
	fits["more"] = item.S("")
	var bad *event.InputError
	if err := item.CheckSize("message", "Text", fits); !errors.As(err, &bad) || bad.Field != "Text" {
		t.Errorf("over 400 KB: %v", err)
	}
}
