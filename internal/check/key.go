package check

import "strings"

var encoder = strings.NewReplacer("%", "%25", "#", "%23")

// Enc percent-encodes the separator '#' and '%' itself, and nothing else, so
// that most ids are unchanged in a key.
func Enc(part string) string { return encoder.Replace(part) }

// Join encodes the parts and joins them with '#'. Two different lists of parts never
// give the same key, and a prefix never matches a neighbour.
func Join(parts ...string) string {
	encoded := make([]string, len(parts))
	for i, part := range parts {
		encoded[i] = Enc(part)
	}
	return strings.Join(encoded, "#")
}
