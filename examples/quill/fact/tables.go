package fact

// Tables of the report. The names are Power BI's, too.
const (
	Communications = "Communications" // facts: calls and text messages of Aloware's
	Changes        = "Changes"        // facts: events of HubSpot's
	Contacts       = "Contacts"       // dimension
	Deals          = "Deals"          // dimension
)

// The tables of facts, in the order in which they are posted, and those of dimensions.
var (
	FactTables      = []string{Communications, Changes}
	DimensionTables = []string{Contacts, Deals}
)

// Types of columns, by Power BI's names.
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

// Measure is what people read: it counts each key once, and takes the latest row
// of a dimension.
type Measure struct{ Name, DAX string }

// Tables are all tables. A row of facts has its key and the batch that it was
// posted in, a row of a dimension the time from which it holds.
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

// each sums the expression over the keys of the table. CALCULATE is what narrows the
// rows to those of one key: without it each key would be asked of the whole table.
func each(table, expression string) string {
	return `SUMX(VALUES(` + table + `[key]), CALCULATE(` + expression + `))`
}

// latest is the column's value in the row that holds now. Rows with the same time
// are the same row twice, as after a lost reply. Which row that is does not depend on
// what else a report filters by: by stage, a deal is in its latest one alone.
func latest(table, column string) string {
	validFrom := table + `[validFrom]`
	return `VAR latest = CALCULATE(MAX(` + validFrom + `), ALLEXCEPT(` + table + `, ` + validFrom + `), VALUES(` + table + `[key]))` +
		` RETURN CALCULATE(MAX(` + table + `[` + column + `]), ` + validFrom + ` = latest)`
}
