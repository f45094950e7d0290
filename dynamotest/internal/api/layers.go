package api

// A Layer is a part of DynamoDB that judges requests: first the model, then what
// the request means, last the table. Each says in its own way what it finds, and
// operations differ in how.
type Layer uint8

// The layers.
const (
	// OfTable compares the request with the table and with what is stored. What
	// it finds is told plainly by every operation: a table or an index that does
	// not exist, a key that does not match the schema, a key attribute that is
	// empty or too long, an update of a key attribute, an update that the stored
	// item cannot take, a key of an index of the wrong type, an item that is too
	// large. Errors are of this layer unless they say otherwise.
	OfTable Layer = iota
	// OfModel looks at each member for itself: whether it is there, within its
	// bounds, in its enum. It lists what it finds: N validation errors detected.
	OfModel
	// OfRequest looks at what members mean: attribute values, expressions, their
	// placeholders, parameters that exclude each other.
	OfRequest
)

// How an operation tells what a layer has found. The zero value of each is how
// most do.
type (
	modelTold   bool
	valuesTold  bool
	requestTold bool
)

const (
	listed modelTold = false // all violations together
	first  modelTold = true  // the first alone, unless a member is missing

	newer valuesTold = false // attribute values are read by DynamoDB's newer code
	older valuesTold = true  // by its older: exponents wrap, sets are shown as they were sent

	plain     requestTold = false
	enveloped requestTold = true // as if the model had found it
)

// layers are how one operation tells what the layers before the table's find.
type layers struct {
	model   modelTold
	values  valuesTold
	request requestTold
}

// layersOf has the operations on items. Those on tables have no values and no
// expressions; like most others they list and are plain.
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

// Told returns an error as the operation tells it.
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

// ByRequest marks an error as one of the layer OfRequest. What is no
// ValidationException stays as it is, and so does what has a layer.
func ByRequest(err *Error) *Error {
	if err == nil || err.Code != ValidationException || err.Layer != OfTable {
		return err
	}
	marked := *err
	marked.Layer = OfRequest
	return &marked
}
