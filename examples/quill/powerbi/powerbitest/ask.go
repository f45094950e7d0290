package powerbitest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// asking is the only question that the server understands.
var asking = regexp.MustCompile(`^EVALUATE SELECTCOLUMNS\(FILTER\('([^']+)', '([^']+)'\[batch\] = "((?:[^"]|"")*)"\), "key", '([^']+)'\[key\]\)$`)

// answer serves executeQueries.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.counts.Asks++
	fault, refuse, now := s.onAsk[s.counts.Asks], s.noAsking, s.cfg.Now()
	s.asked = within(s.asked, now, time.Minute)
	wait := over(s.asked, now, time.Minute, 1, asksAMinute, func(arrival) int { return 1 })
	if wait == 0 {
		s.asked = append(s.asked, arrival{at: now})
	}
	s.mu.Unlock()
	var body struct {
		Queries []struct {
			Query string `json:"query"`
		} `json:"queries"`
		Settings struct {
			IncludeNulls bool `json:"includeNulls"`
		} `json:"serializerSettings"`
	}
	err := decodeBody(r, &body)
	switch {
	case wait > 0:
		s.throttle(w, wait, "questions a minute")
	case refuse:
		fail(w, http.StatusForbidden, "PowerBINotAuthorizedException", "")
	case !fault.before(w):
	case err != nil || len(body.Queries) != 1:
		s.refuse(w, http.StatusBadRequest, "InvalidRequest", "the body does not have one query")
	default:
		s.evaluate(w, r.PathValue("dataset"), body.Queries[0].Query, fault)
	}
}

func (s *Server) evaluate(w http.ResponseWriter, dataset, query string, fault Fault) {
	m := asking.FindStringSubmatch(query)
	s.mu.Lock()
	ours := dataset == s.dataset
	var t *table
	if m != nil && m[1] == m[2] && m[1] == m[4] {
		t = s.tables[m[1]]
	}
	found := []map[string]string{}
	if ours && t != nil {
		found = t.batch(strings.ReplaceAll(m[3], `""`, `"`), s.cfg.Now().Add(-s.cfg.VisibleAfter))
	}
	s.mu.Unlock()
	switch {
	case !ours:
		s.refuse(w, http.StatusNotFound, "PowerBIEntityNotFound", "no dataset "+dataset)
	case t == nil || t.columns["batch"] == "" || t.columns["key"] == "":
		s.refuse(w, http.StatusBadRequest, "DatasetExecuteQueriesError", "Failed to execute the DAX query: "+query)
	case fault.after(w):
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write([]byte("\ufeff")) // as executeQueries does
		_ = json.NewEncoder(w).Encode(map[string]any{
			"results": []any{map[string]any{"tables": []any{map[string]any{"rows": found}}}},
		})
	}
}

// batch returns the keys of the batch's rows that were visible at the time. DAX
// ignores case when it compares text.
func (t *table) batch(batch string, at time.Time) []map[string]string {
	found := []map[string]string{}
	for _, r := range t.rows {
		if strings.EqualFold(r.batch, batch) && !r.at.After(at) {
			found = append(found, map[string]string{"[key]": r.key})
		}
	}
	return found
}
