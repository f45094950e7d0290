package check

import "github.com/homeops/ddbpatterns/event"

// maxDigits is how many digits of a number DynamoDB keeps.
const maxDigits = 38

// Decimal refuses an id that is to be stored as a number and would come back
// changed, because two ids could then become one. It accepts only whole numbers
// in their shortest form, of at most 38 digits.
func Decimal(pkg, field, id string) error {
	digits := id
	if len(digits) > 1 && digits[0] == '-' && digits[1] != '0' {
		digits = digits[1:]
	}
	ok := digits != "" && len(digits) <= maxDigits && (digits == "0" || digits[0] != '0')
	for i := 0; ok && i < len(digits); i++ {
		ok = '0' <= digits[i] && digits[i] <= '9'
	}
	if !ok {
		return event.BadInput(pkg, field, "must be a whole decimal number of at most 38 digits in its shortest form: ids are stored as numbers unless Config.ActorType is S")
	}
	return nil
}
