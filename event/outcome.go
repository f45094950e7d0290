package event

// Outcome is what a write keyed by an event did. The zero Outcome is neither
// Created nor Duplicate, so that a dropped error never reads as a duplicate.
type Outcome uint8

const (
	// Created says that this call, or an earlier attempt of it whose reply was
	// lost, took effect.
	Created Outcome = iota + 1
	// Duplicate says that the event had taken effect before; nothing changed.
	Duplicate
)

// String returns "created", "duplicate" or "no outcome".
func (o Outcome) String() string {
	switch o {
	case Created:
		return "created"
	case Duplicate:
		return "duplicate"
	}
	return "no outcome"
}
