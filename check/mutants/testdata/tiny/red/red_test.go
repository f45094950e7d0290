package red

import "testing"

func TestRed(t *testing.T) { t.Error("always") }
