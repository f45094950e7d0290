package api

// A Layer is a stage of DynamoDB's checks of a request: first the model, then
// the meaning of the request, last the table. Each layer reports its errors in a
// form of its own, which also depends on the operation.
type Layer uint8

// The layers.
const (
	// OfTable compares the request with the table and with stored items. Every
	// operation reports its errors plainly: a table or an index that does not
	// exist, a key that does not match the schema, a key attribute that is empty
	// or too long, an update of a key attribute, an update that does not fit the
	// stored item, a key of an index of the wrong type, an item that is too
	// large. It is the default layer of an error.
	OfTable Layer = iota
	// OfModel checks each member on its own: whether it is present, within its
	// bounds, in its enum. It lists its errors: N validation errors detected.
	OfModel
	// OfRequest checks the meaning of members: attribute values, expressions,
	// their placeholders, parameters that exclude each other.
	OfRequest
)

// How an operation reports the errors of a layer. The zero values are those of
// most operations.
type (
	modelTold   bool
	valuesTold  bool
	requestTold bool
)

const (
	listed modelTold = false // all violations together
	first  modelTold = true  // only the first, unless a member is missing

	newer valuesTold = false // attribute values are read by DynamoDB's newer code
	older valuesTold = true  // by its older: exponents wrap, sets are shown as they were sent

	plain     requestTold = false
	enveloped requestTold = true // in the form of the model
)

// layers say how one operation reports the errors of the layers before OfTable.
type layers struct {
	model   modelTold
	values  valuesTold
	request requestTold
}

// layersOf has the operations on items. Operations on tables have no values and
// no expressions. Like most others, they have the zero value.
var layersOf = map[string]layers{
	"PutItem":    {listed, newer, enveloped},
	"UpdateItem": {first, newer, enveloped},
	"DeleteItem": {listed, newer, enveloped},

	"GetItem":            {listed, newer, plain},
	"Query":              {listed, newer, plain},
	"Scan":               {listed, newer, plain},
	"BatchGetItem":       {listed, newer, plain},
	"TransactGetItems":   {listed, newer, plain},
	"TransactWriteItems": {listed, newer, plain},

	"BatchWriteItem":        {listed, older, plain},
	"ExecuteStatement":      {listed, older, plain},
	"BatchExecuteStatement": {listed, older, plain},
	"ExecuteTransaction":    {listed, older, plain},
}

const envelope = "1 validation error detected: "

// Told returns an error as the operation reports it.
func (o *Operation) Told(err *Error) *Error {
	l := layersOf[o.Name]
	text := err.Message
	if l.values == older && err.Older != "" {
		text = err.Older
	}

	switch {
	case err.Layer == OfModel && l.model == first && err.First != "":
		text = envelope + err.First
	case err.Layer == OfRequest && l.request == enveloped:
		text = envelope + text
	}

	if text == err.Message {
		return err
	}

	told := *err
	told.Message = text
	return &told
}

// ByRequest marks an error as one of the layer OfRequest. It does not change an
// error that is not a ValidationException, or that has a layer already.
func ByRequest(err *Error) *Error {
	if err == nil || err.Code != ValidationException || err.Layer != OfTable {
		return err
	}
	marked := *err
	marked.Layer = OfRequest
	return &marked
}
