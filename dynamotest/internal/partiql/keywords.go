package partiql

import "strings"

// keywords cannot be names unless they are quoted: those of SQL-92 and of
// PartiQL. They are not the words that expressions reserve.
var keywords = setOf(`
absolute action add all allocate alter and any are as asc assertion at authorization avg bag begin between bit
bit_length blob bool boolean by cascade cascaded case cast catalog char char_length character character_length check
clob close coalesce collate collation column commit connect connection constraint constraints continue convert
corresponding count create cross current current_date current_time current_timestamp current_user cursor date date_add
date_diff deallocate dec decimal declare default deferrable deferred delete desc describe descriptor diagnostics
disconnect distinct domain double drop else end end-exec escape except exception exec execute exists external extract
false fetch first float for foreign found from full get global go goto grant group having identity immediate in index
indicator initially inner input insensitive insert int integer intersect interval into is isolation join key language
last left let level like limit list local lower match max min missing module names national natural nchar next no not
null nullif numeric octet_length of on only open option or order outer output overlaps pad partial pivot position
precision prepare preserve primary prior privileges procedure public read real references relative remove restrict
revoke right rollback rows schema scroll section select session session_user set sexp size smallint some space sql
sqlcode sqlerror sqlstate string struct substring sum symbol system_user table temporary then time timestamp to
transaction translate translation trim true tuple union unique unknown unpivot update upper usage user using value
values varchar varying view when whenever where with work write zone
conflict do modified new nothing old returning
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// phrases are keywords of two words.
var phrases = map[[2]string]bool{
	{"insert", "into"}: true, {"not", "in"}: true, {"not", "between"}: true, {"not", "like"}: true, {"is", "not"}: true,
	{"double", "precision"}: true, {"character", "varying"}: true,
	{"all", "old"}: true, {"all", "new"}: true, {"modified", "old"}: true, {"modified", "new"}: true,
}

// precedence has the binary operators.
var precedence = map[string]int{
	"or":  10,
	"and": 20,
	"=":   40, "<>": 40, "is": 40, "is not": 40, "in": 40, "not in": 40,
	"<": 50, "<=": 50, ">": 50, ">=": 50, "between": 50, "not between": 50, "like": 50, "not like": 50,
	"+": 60, "-": 60, "||": 60,
	"*": 70, "/": 70, "%": 70,
}

const (
	lowest        = 0
	notPrecedence = 30
)

// operatorWords are operators, not keywords, where a term is expected.
var operatorWords = []string{"and", "or", "not", "is", "is not", "in", "not in", "between", "not between", "like", "not like"}

// particles are not keywords where a term is expected.
var particles = []string{"as", "at", "by", "asc", "desc", "for"}

// functionWords are keywords that name functions. aggregates are those of them
// that the grammar has.
var (
	functionWords = []string{
		"exists", "substring", "char_length", "character_length", "octet_length", "bit_length", "upper", "lower", "size",
		"nullif", "coalesce", "sexp", "list", "bag",
	}
	aggregates = []string{"count", "avg", "max", "min", "sum"}
)

// typeNames are the types that may follow IS, each with the kind of values that
// it means in DynamoDB. The kind is empty if DynamoDB has no values of the
// type.
var typeNames = map[string]string{
	"missing": "", "null": "NULL", "bool": "BOOL", "boolean": "BOOL", "string": "S", "numeric": "N", "blob": "B",
	"struct": "M", "tuple": "M", "list": "L",

	"smallint": "", "int": "", "integer": "", "int2": "", "int4": "", "int8": "", "integer2": "", "integer4": "", "integer8": "",
	"bigint": "", "float": "", "real": "", "double precision": "", "dec": "", "decimal": "", "timestamp": "", "date": "", "time": "",
	"char": "", "character": "", "varchar": "", "character varying": "", "symbol": "", "clob": "", "sexp": "", "bag": "", "any": "",
}
