package aloware

import (
	"cmp"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/quill/fields"
)

// ignored returns the kind of a delivery that carries no fact, and "" for one that
// is to be read. Aloware sends much beside the ends of calls, and adds kinds without
// notice. So the content decides, and a delivery is ignored only if
//
//   - it is a transcription.*, which has its call inside, as body.communication, and
//     no body.id, or
//   - its type is a number that is neither a call's nor a text message's, such as
//     that of an appointment, or
//   - nothing in it looks like a communication, as in a test or an event about a
//     contact.
//
// Whatever else cannot be read is refused, because somebody must look: the end of a
// call must not be lost. Refused is also all that is called PhoneCall or SMS, and an
// event that is not a text, or a body that is not an object.
func ignored(top *fields.Object) string {
	if top.Err() != nil {
		return ""
	}
	may := top.Optional()
	name, body := may.Text("event"), &fields.Object{}
	if top.Has("body") {
		body = may.Object("body")
	}
	kind := body.Optional().Digits("type")
	switch {
	case len(may.LeftOut()) > 0, strings.Contains(name, "PhoneCall"), strings.Contains(name, "SMS"):
		return ""
	case strings.HasPrefix(name, "transcription.") && !body.Has("id"):
	case kind != "" && kind != "1" && kind != "2":
	case kind != "", body.Has("communication"), communicates(top), communicates(body):
		return ""
	}
	return cmp.Or(name, "without a name")
}

// communicates reports whether the object looks like a call or a text message.
func communicates(o *fields.Object) bool {
	return slices.ContainsFunc([]string{"current_status", "current_status2", "direction", "talk_time"}, o.Named)
}
