package facts

import (
	"fmt"
	"strings"
)

// Counts are how many facts hold, by group in the order of the facts.
type Counts []Count

// A Count is how many facts of a group hold.
type Count struct {
	Group    string
	Held, Of int
}

// Add counts a fact.
func (c *Counts) Add(fact Fact, holds bool) {
	if len(*c) == 0 || (*c)[len(*c)-1].Group != fact.Group {
		*c = append(*c, Count{Group: fact.Group})
	}
	last := &(*c)[len(*c)-1]
	last.Of++
	if holds {
		last.Held++
	}
}

// Sum counts the facts of all groups.
func (c Counts) Sum() Count {
	sum := Count{Group: "all"}
	for _, one := range c {
		sum.Held += one.Held
		sum.Of += one.Of
	}
	return sum
}

// Differ returns how many facts do not hold.
func (c Counts) Differ() int { return c.Sum().Of - c.Sum().Held }

// String has a line for each group, and one for all.
func (c Counts) String() string {
	var b strings.Builder
	for _, one := range append(c[:len(c):len(c)], c.Sum()) {
		fmt.Fprintf(&b, "%-14s %4d of %4d\n", one.Group, one.Held, one.Of)
	}
	return b.String()
}

// ParseCounts reads what String wrote, without the line for all.
func ParseCounts(text string) (Counts, error) {
	var c Counts
	for line := range strings.Lines(text) {
		var one Count
		if _, err := fmt.Sscanf(line, "%s %d of %d", &one.Group, &one.Held, &one.Of); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if one.Group != "all" {
			c = append(c, one)
		}
	}
	return c, nil
}
