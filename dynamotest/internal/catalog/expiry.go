package catalog

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Expiring returns the table with expiry switched on or off.
func (t Table) Expiring(req *api.UpdateTimeToLive) (Table, *api.Error) {
	attribute := req.Attribute.Value
	switch {
	case req.Enabled.Value && t.TTL == attribute:
		return t, api.Invalid("TimeToLive is already enabled")
	case req.Enabled.Value && t.TTL != "":
		return t, api.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL)
	case !req.Enabled.Value && t.TTL == "":
		return t, api.Invalid("TimeToLive is already disabled")
	case !req.Enabled.Value && t.TTL != attribute:
		return t, api.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.TTL)
	case req.Enabled.Value:
		t.TTL = attribute
	default:
		t.TTL = ""
	}

	return t, nil
}

// backupDays is how many days backups are kept by default.
const backupDays = 35

// BackedUp returns the table with point-in-time recovery switched on or off at
// the given time.
func (t Table) BackedUp(req *api.UpdateContinuousBackups, at time.Time) Table {
	if req.Enabled.Value != t.Backups {
		t.Backups, t.BackupsFrom = req.Enabled.Value, at
	}
	t.BackupDays = req.Days.Or(backupDays)
	return t
}

// DescribeTimeToLive writes the reply to DescribeTimeToLive.
func (t *Table) DescribeTimeToLive(w *api.Writer) {
	w.Object("TimeToLiveDescription", func() {
		if t.TTL == "" {
			w.Text("TimeToLiveStatus", "DISABLED")
			return
		}
		w.Text("TimeToLiveStatus", "ENABLED")
		w.Text("AttributeName", t.TTL)
	})
}

// DescribeBackups writes the reply to DescribeContinuousBackups. The latest
// restorable time is the present.
func (t *Table) DescribeBackups(w *api.Writer, latest time.Time) {
	w.Object("ContinuousBackupsDescription", func() {
		w.Text("ContinuousBackupsStatus", "ENABLED")
		w.Object("PointInTimeRecoveryDescription", func() {
			if !t.Backups {
				w.Text("PointInTimeRecoveryStatus", "DISABLED")
				return
			}
			w.Text("PointInTimeRecoveryStatus", "ENABLED")
			w.Int("RecoveryPeriodInDays", t.BackupDays)
			earliest := latest.AddDate(0, 0, -int(t.BackupDays))
			if t.BackupsFrom.After(earliest) {
				earliest = t.BackupsFrom
			}
			w.Time("EarliestRestorableDateTime", earliest)
			w.Time("LatestRestorableDateTime", latest)
		})
	})
}
