package fact

// These are the tables of the report. Power BI uses the same names.
const (
	Communications = "Communications" // facts: calls and text messages of Aloware
	Changes        = "Changes"        // facts: events of HubSpot
	Contacts       = "Contacts"       // dimension
	Deals          = "Deals"          // dimension
)

// These are the tables of facts, in the order in which they are posted, and the
// tables of dimensions.
var (
	FactTables      = []string{Communications, Changes}
	DimensionTables = []string{Contacts, Deals}
)

// These are the types of columns, with Power BI's names.
const (
	Text    = "String"
	Whole   = "Int64"
	Decimal = "Decimal"
	Instant = "DateTime"
)

// Table is a table of the report.
type Table struct {
	Name     string
	Columns  []Column
	Measures []Measure
}

// Column is a column and its type.
type Column struct{ Name, Type string }

// Measure is a figure for people. It counts each key once, and uses the latest
// row of a dimension.
type Measure struct{ Name, DAX string }

// Tables are all tables. A row of a fact has its key and the batch in which it
// was posted. A row of a dimension has the time from which it is valid.
var Tables = []Table{
	{
		Name: Communications,
		Columns: []Column{
			{"key", Text},
			{"batch", Text},
			{"at", Instant},
			{"receivedAt", Instant},
			{"kind", Text},
			{"id", Text},
			{"event", Text},
			{"direction", Text},
			{"status", Text},
			{"disposition", Text},
			{"seconds", Whole},
			{"talkSeconds", Whole},
			{"contact", Text},
			{"campaign", Text},
			{"user", Text},
		},
		Measures: []Measure{
			{"Communications counted", `DISTINCTCOUNT(Communications[key])`},
			{"Talk seconds", each(Communications, `MAX(Communications[talkSeconds])`)},
		},
	},
	{
		Name: Changes,
		Columns: []Column{
			{"key", Text},
			{"batch", Text},
			{"at", Instant},
			{"receivedAt", Instant},
			{"portal", Text},
			{"type", Text},
			{"object", Text},
			{"property", Text},
			{"value", Text},
			{"changeSource", Text},
		},
		Measures: []Measure{{"Changes counted", `DISTINCTCOUNT(Changes[key])`}},
	},
	{
		Name: Contacts,
		Columns: []Column{
			{"key", Text},
			{"validFrom", Instant},
			{"firstName", Text},
			{"lastName", Text},
			{"phone", Text},
			{"email", Text},
			{"stage", Text},
		},
		Measures: []Measure{{"Contact stage", latest(Contacts, "stage")}},
	},
	{
		Name: Deals,
		Columns: []Column{
			{"key", Text},
			{"validFrom", Instant},
			{"name", Text},
			{"stage", Text},
			{"pipeline", Text},
			{"amount", Decimal},
			{"owner", Text},
			{"closes", Text},
		},
		Measures: []Measure{
			{"Deal stage", latest(Deals, "stage")},
			{"Deal amount", each(Deals, latest(Deals, "amount"))},
		},
	},
}

// each sums the expression over the keys of the table. CALCULATE restricts the rows
// to those of one key: without it the expression would read the whole table for
// each key.
func each(table, expression string) string {
	return `SUMX(VALUES(` + table + `[key]), CALCULATE(` + expression + `))`
}

// latest is the column's value in the latest row. Rows with the same time are the
// same row twice, as after a lost reply. Other filters of a report do not change
// which row is the latest: filtered by stage, a deal appears only in its latest
// stage.
func latest(table, column string) string {
	validFrom := table + `[validFrom]`
	return `VAR latest = CALCULATE(MAX(` + validFrom + `), ALLEXCEPT(` + table + `, ` + validFrom + `), VALUES(` + table + `[key]))` +
		` RETURN CALCULATE(MAX(` + table + `[` + column + `]), ` + validFrom + ` = latest)`
}
