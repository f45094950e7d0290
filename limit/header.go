package limit

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SetHeader sets RateLimit-Policy and RateLimit, as draft-ietf-httpapi-ratelimit-headers-11
// has them, and Retry-After of a refusal. For each limit there are q (N), w (Per, if it
// is whole seconds), r (Remaining), and t: the seconds until one more can be taken or,
// of a limit that refuses, until there is room for the take. It sets nothing of the Grant
// of an error.
func (g Grant) SetHeader(h http.Header) {
	if g.asked == nil {
		return
	}
	var policies, states []string
	for i, l := range g.asked.Limits {
		of, left := g.asked.spans[i], g.Remaining[i]
		policy, state := fmt.Sprintf("%q;q=%d", l.Name, l.N), fmt.Sprintf("%q;r=%d", l.Name, left)
		if l.Per%time.Second == 0 {
			policy += fmt.Sprintf(";w=%d", int64(l.Per/time.Second))
		}
		t := g.asked.late(i, g.times[i])
		if g.OK {
			t = g.times[i] + (left+1)*of.unit - of.burst - g.asked.now
		}
		if t > 0 && left < l.Burst {
			state += fmt.Sprintf(";t=%d", ceil(t, int64(time.Second)))
		}
		policies, states = append(policies, policy), append(states, state)
	}
	h.Set("RateLimit-Policy", strings.Join(policies, ", "))
	h.Set("RateLimit", strings.Join(states, ", "))
	if !g.OK && g.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(ceil(int64(g.RetryAfter), int64(time.Second)), 10))
	}
}
