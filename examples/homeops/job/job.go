// Package job is what the clock asks for, as a message of the queue. The clock
// sends only [Hourly]; the worker sends the others for each household and promise
// concerned.
//
// A job is identified by its subject and by when it was due, not by the message
// that asks for it. So it is safe to send it twice, late, or from several
// processes.
package job

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// The jobs.
const (
	Hourly  = "hourly"  // logs the depth of the queue, and sends the jobs below that are due
	Week    = "week"    // Sunday's summary of a household
	Suggest = "suggest" // a suggestion to a household
	Day     = "day"     // a household's day before: how often its members wrote to the bot, and its week
	Promise = "promise" // one overdue promise
)

// Job is one job. Hourly has only a name and a due time.
type Job struct {
	Name      string    `json:"job"`
	Due       time.Time `json:"due"`
	Household string    `json:"household,omitempty"`
	Chat      string    `json:"chat,omitempty"` // where the household is written to
	User      string    `json:"user,omitempty"`
	Promise   string    `json:"promise,omitempty"`
}

// Parse reads the body of a message; ok is false if it has no job, or is an
// update. A due time within an hour becomes the beginning of the hour.
func Parse(body string) (j Job, ok bool, _ error) {
	if !strings.Contains(body, `"job":`) || strings.Contains(body, `"update_id":`) {
		return j, false, nil
	}
	if err := json.Unmarshal([]byte(body), &j); err != nil {
		return j, true, fmt.Errorf("job: not a job: %w", err)
	}
	j.Due = j.Due.Truncate(time.Hour)
	return j, true, nil
}

// Body is the job as the body of a message.
func (j Job) Body() string {
	text, _ := json.Marshal(j) // texts and a time, which cannot fail for the years that an event may have
	return string(text)
}

// Event returns the job's event: the same job with the same due time has the
// same event. The error is an *event.InputError for a time that no event can
// have.
func (j Job) Event() (event.Event, error) {
	return event.New(j.Due, "job", record.Key(j.Name, j.Household, j.User, j.Promise))
}
