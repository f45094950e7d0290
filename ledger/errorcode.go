package ledger

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/event"
)

// ownErrors are the library's sentinels by their codes, which are part of the
// format. Those of other record packages are not known here: see Config.Errors.
var ownErrors = map[string]error{
	"event.ErrSuperseded":           event.ErrSuperseded,
	"event.ErrTooOld":               event.ErrTooOld,
	"event.ErrUnknownOutcome":       event.ErrUnknownOutcome,
	"ledger.ErrFingerprintMismatch": ErrFingerprintMismatch,
	"ledger.ErrLeaseLost":           ErrLeaseLost,
	"ledger.ErrNoResult":            ErrNoResult,
	"ledger.ErrResultDiffers":       ErrResultDiffers,
	"ledger.ErrResultNotStored":     ErrResultNotStored,
	"ledger.ErrTooManyAttempts":     ErrTooManyAttempts,
}

// codeInput is the code of an [*event.InputError]. After an '@' it has the
// error's place in the message, and the lengths of package, field and reason
// there: "event.InputError@10+7+8+17".
const codeInput = "event.InputError"

// callersCode matches a caller's code. It is so short that two fit into the
// attribute, or one beside an input error.
var callersCode = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,30}$`)

// validateCodes refuses codes that could not be read again.
func validateCodes(sentinels map[string]error) error {
	for _, code := range slices.Sorted(maps.Keys(sentinels)) {
		switch {
		case !callersCode.MatchString(code):
			return event.BadInput(pkg, "Config.Errors", fmt.Sprintf("must have codes of 1 to 30 letters, digits, '.', '_' and '-', has the code %q", code))
		case strings.HasPrefix(code, "event.") || strings.HasPrefix(code, "ledger."):
			return event.BadInput(pkg, "Config.Errors", fmt.Sprintf("must not have the code %q: codes that begin with event. or ledger. are the library's own", code))
		case sentinels[code] == nil:
			return event.BadInput(pkg, "Config.Errors", fmt.Sprintf("must have an error for the code %q, has nil", code))
		}
	}
	return nil
}

// errorCode returns what is stored of a permanent error beside its text: the
// fence of the claim, a colon, and codes with commas between them; "" for an
// unknown error. An older version keeps the attribute when it writes the row,
// and the fence shows that.
func (s *Store) errorCode(fence int64, err error, text string) string {
	var codes []string
	room := maxErrorCode - len(strconv.FormatInt(fence, 10))
	add := func(code string) {
		if len(code)+1 <= room { // with the colon or comma before it
			codes, room = append(codes, code), room-len(code)-1
		}
	}
	if bad, ok := errors.AsType[*event.InputError](err); ok {
		add(codeInput + placeOf(bad, text))
	}

	for _, known := range []map[string]error{s.cfg.Errors, ownErrors} { // the caller's first, in case there is no room
		for _, code := range slices.Sorted(maps.Keys(known)) {
			if errors.Is(err, known[code]) {
				add(code)
			}
		}
	}

	if len(codes) == 0 {
		return ""
	}
	return strconv.FormatInt(fence, 10) + ":" + strings.Join(codes, ",")
}

// kept returns the errors that the row's code names (see errorCode), nil if this store
// knows none of them. A code of another fence is not that of the row's last error.
func (s *Store) kept(r row) error {
	fence, codes, ok := strings.Cut(r.errorCode, ":")
	if !ok || fence != strconv.FormatInt(r.Fence, 10) {
		return nil
	}

	var named []error
	for code := range strings.SplitSeq(codes, ",") {
		name, place, _ := strings.Cut(code, "@")
		switch sentinel := s.cfg.Errors[name]; {
		case name == codeInput:
			named = append(named, inputAt(place, r.LastError))
		case sentinel != nil:
			named = append(named, sentinel)
		case ownErrors[name] != nil:
			named = append(named, ownErrors[name])
		}
	}

	return errors.Join(named...)
}

// placeOf returns the place of an input error in the text, "" if it is not
// there.
func placeOf(bad *event.InputError, text string) string {
	pkg, field := strings.ToValidUTF8(bad.Package, "\uFFFD"), strings.ToValidUTF8(bad.Field, "\uFFFD")
	head := pkg + ": " + field + " "
	whole := strings.ToValidUTF8(bad.Error(), "\uFFFD")
	for at := range text {
		// The end may be cut off with that of the text.
		if told := text[at:min(len(text), at+len(whole))]; strings.HasPrefix(told, head) && strings.HasPrefix(whole, told) {
			return fmt.Sprintf("@%d+%d+%d+%d", at, len(pkg), len(field), len(told)-len(head))
		}
	}
	return ""
}

// inputAt reads an input error out of the text. Without a place the whole text
// is its reason.
func inputAt(place, text string) error {
	var at, pkg, field, reason int
	_, err := fmt.Sscanf(place, "%d+%d+%d+%d", &at, &pkg, &field, &reason)
	begin := at + pkg + len(": ")
	end := begin + field + len(" ") + reason
	if err != nil || min(at, pkg, field, reason) < 0 || max(at, pkg, field, reason, end) > len(text) {
		return &event.InputError{Reason: text}
	}
	return &event.InputError{Package: text[at : at+pkg], Field: text[begin : begin+field], Reason: text[end-reason : end]}
}
