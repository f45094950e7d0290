package ledger

import (
	"maps"
	"slices"
	"strconv"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// fixed are the attributes whose names cannot be set.
var fixed = []string{
	attrSeenAt, attrSource, attrNotes, attrState, attrClaim, attrLease, attrFence,
	attrAttempts, attrFingerprint, attrResult, attrLastError, attrErrorCode,
}

func (c *Config) validateNames() error {
	taken := slices.Clone(fixed)
	for _, attr := range []struct{ field, name string }{{"Config.KeyAttr", c.KeyAttr}, {"Config.TTLAttr", c.TTLAttr}} {
		if err := check.Attribute(pkg, attr.field, attr.name); err != nil {
			return err
		}
		if slices.Contains(taken, attr.name) {
			return event.BadInput(pkg, attr.field, "must not be "+strconv.Quote(attr.name)+", which is another attribute of the row")
		}
		taken = append(taken, attr.name)
	}
	return nil
}

// names are the names of each expression in one table, made once: the
// expressions say #pk and #expiresAt, in every table. Calls share the maps and
// must not change them.
type names struct {
	unseen, claim, reclaim, complete, fail, withdraw, abandon, renew, release map[string]string
	lives, reopen, erase, eraseOld, forget, forgetMarked, forgetOld           map[string]string
	resume, forsake                                                           map[string]string
}

func namesFor(key, ttl string) *names {
	named := func(of map[string]string) map[string]string {
		own := maps.Clone(of)
		for alias, name := range map[string]string{"#" + attrKey: key, "#" + attrExpiresAt: ttl} {
			if _, uses := own[alias]; uses {
				own[alias] = name
			}
		}
		return own
	}
	return &names{
		unseen: named(unseenNames), claim: named(claimNames), reclaim: named(reclaimNames),
		complete: named(completeNames), fail: named(failNames), withdraw: named(withdrawNames),
		abandon: named(abandonNames), renew: named(renewNames), release: named(releaseNames),
		lives: named(livesNames), reopen: named(reopenNames), erase: named(eraseNames), eraseOld: named(eraseOldNames),
		forget: named(forgetNames), forgetMarked: named(forgetMarkedNames), forgetOld: named(forgetOldNames),
		resume: named(resumeNames), forsake: named(forsakeNames),
	}
}
