package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// whole is Difference.What of a table that does not exist.
const whole = "table"

// The texts for a setting that is on, and for one that an endpoint does not know.
const (
	on         = "on"
	unanswered = "not known to this endpoint"
)

// How a difference is removed, and what DynamoDB allows of it.
const (
	byCreating   = "create it, by Create or by its stack"
	byAnother    = "wait until it is gone, and create it anew"
	byMoving     = "never: make another table and move the items"
	byWaiting    = "wait: it passes by itself"
	byHand       = "it does not pass by itself: see the table's status in AWS's console"
	byIndex      = "UpdateTable, which creates or deletes one index at a time; a new one serves once it is filled"
	byNewIndex   = "UpdateTable twice: delete the index, then create it anew, which serves once it is filled. A stack makes another under another name first"
	byTTL        = "UpdateTimeToLive: one change an hour, and it may take that hour"
	byOtherTTL   = "UpdateTimeToLive twice: switch it off, and on with the other attribute an hour later"
	byRecovery   = "UpdateContinuousBackups, at once; backups reach back to when they were last switched on"
	byProtection = "UpdateTable, at once"
	byEncryption = "UpdateTable, while the table serves; DynamoDB limits how often a day"
	byDynamoDB   = "not here: DynamoDB itself has it"
	byBilling    = "UpdateTable; to PAY_PER_REQUEST at most four times in 24 hours"
)

// absent is the difference of a table that does not exist.
func (t Table) absent() Difference {
	return Difference{Table: t.Name, What: whole, Want: t.Key.String(), How: byCreating}
}

// compare returns the differences that DescribeTable shows.
func (t Table) compare(stands *types.TableDescription) []Difference {
	var found []Difference
	add := func(d Difference) {
		d.Table = t.Name
		found = append(found, d)
	}
	if status := stands.TableStatus; status != types.TableStatusActive {
		d := Difference{What: "status", Want: string(types.TableStatusActive), Got: string(status), How: byHand}
		switch status {
		case types.TableStatusCreating, types.TableStatusUpdating:
			d.InPlace, d.How = true, byWaiting
			d.Tolerated = status == types.TableStatusUpdating
		case types.TableStatusDeleting:
			d.How = byAnother
		}
		add(d)
	}

	kinds := kindsOf(stands.AttributeDefinitions)
	if got := partsOf(stands.KeySchema, kinds); !slices.Equal(got, t.Key.parts()) {
		add(Difference{What: "key", Want: t.Key.String(), Got: textOf(got), How: byMoving})
	}

	t.compareIndexes(stands, kinds, add)
	t.compareSettings(stands, add)
	return found
}

// compareIndexes looks for each index of the definition, and for others.
func (t Table) compareIndexes(stands *types.TableDescription, kinds map[string]types.ScalarAttributeType, add func(Difference)) {
	for _, want := range t.Indexes {
		name := "index " + want.Name
		at := slices.IndexFunc(stands.GlobalSecondaryIndexes, func(i types.GlobalSecondaryIndexDescription) bool {
			return aws.ToString(i.IndexName) == want.Name
		})

		can, byOne, byTwo := changeable(want, stands, kinds), byIndex, byNewIndex
		if !can {
			byOne, byTwo = byMoving, byMoving
		}

		if at < 0 {
			add(Difference{What: name, Want: want.Key.String(), InPlace: can, How: byOne})
			continue
		}

		index := stands.GlobalSecondaryIndexes[at]
		if got := partsOf(index.KeySchema, kinds); !slices.Equal(got, want.Key.parts()) {
			add(Difference{What: name, Want: want.Key.String(), Got: textOf(got), InPlace: can, How: byTwo})
		}

		if got := projectionOf(index.Projection); got != "" && got != string(types.ProjectionTypeAll) {
			add(Difference{What: "projection of " + name, Want: string(types.ProjectionTypeAll), Got: got, InPlace: can, How: byTwo})
		}

		// Some endpoints have indexes without a status.
		if status := index.IndexStatus; status != "" && status != types.IndexStatusActive {
			d := Difference{What: "status of " + name, Want: string(types.IndexStatusActive), Got: string(status), InPlace: true, How: byWaiting}
			d.Tolerated = status == types.IndexStatusUpdating
			if status == types.IndexStatusDeleting {
				d.How = byIndex
			}
			add(d)
		}
	}

	var others []Difference
	for _, index := range stands.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		if !slices.ContainsFunc(t.Indexes, func(i Index) bool { return i.Name == name }) {
			others = append(others, Difference{What: "index " + name, Got: textOf(partsOf(index.KeySchema, kinds)), Tolerated: true, InPlace: true, How: byIndex})
		}
	}

	for _, index := range stands.LocalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		others = append(others, Difference{What: "local index " + name, Got: textOf(partsOf(index.KeySchema, kinds)), Tolerated: true, How: byMoving})
	}

	// They are described in any order.
	slices.SortFunc(others, func(a, b Difference) int { return cmp.Compare(a.What, b.What) })
	for _, d := range others {
		add(d)
	}
}

// changeable reports whether the existing table can have the index. It cannot when the
// table's own key, or a local index, gives one of its attributes another type: an
// attribute has one type in a table.
func changeable(want Index, stands *types.TableDescription, kinds map[string]types.ScalarAttributeType) bool {
	fixed := stands.KeySchema
	for _, local := range stands.LocalSecondaryIndexes {
		fixed = slices.Concat(fixed, local.KeySchema)
	}
	for _, a := range want.Key.parts() {
		held := func(e types.KeySchemaElement) bool { return aws.ToString(e.AttributeName) == a.Name }
		if slices.ContainsFunc(fixed, held) && kinds[a.Name] != a.Type {
			return false
		}
	}
	return true
}

// compareSettings compares the other parts of DescribeTable's answer.
func (t Table) compareSettings(stands *types.TableDescription, add func(Difference)) {
	billing := types.BillingModeProvisioned // which is not described until it was changed
	if stands.BillingModeSummary != nil {
		billing = stands.BillingModeSummary.BillingMode
	}

	if billing != types.BillingModePayPerRequest {
		add(Difference{What: "billing mode", Want: string(types.BillingModePayPerRequest), Got: string(billing), Tolerated: true, InPlace: true, How: byBilling})
	}

	if got := aws.ToBool(stands.DeletionProtectionEnabled); got != t.DeletionProtection {
		add(Difference{What: "deletion protection", Want: ifOn(t.DeletionProtection), Got: ifOn(got), Tolerated: got, InPlace: true, How: byProtection})
	}

	if got := keyIDOf(stands.SSEDescription); !sameKMSKey(t.KMSKey, got) {
		add(Difference{What: "KMS key", Want: t.KMSKey, Got: got, Tolerated: t.KMSKey == "", InPlace: true, How: byEncryption})
	}
}

// compareTTL counts a TTL that is being switched on as on, and one that is being
// switched off as off.
func (t Table) compareTTL(ttl *types.TimeToLiveDescription) []Difference {
	got, how := "", byTTL
	if ttl != nil && (ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled || ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		got = aws.ToString(ttl.AttributeName)
	}
	if got == t.TTL {
		return nil
	}
	if t.TTL != "" && got != "" {
		how = byOtherTTL
	}
	return []Difference{{Table: t.Name, What: "TTL", Want: t.TTL, Got: got, Tolerated: t.TTL == "", InPlace: true, How: how}}
}

// compareRecovery takes what recoveryOf returns. An endpoint that knows no backups
// differs only where they are asked for.
func (t Table) compareRecovery(got string) []Difference {
	want := ifOn(t.PointInTimeRecovery)
	if got == want || got == unanswered && want == "" {
		return nil
	}
	d := Difference{Table: t.Name, What: "point-in-time recovery", Want: want, Got: got, Tolerated: want == "", InPlace: true, How: byRecovery}
	if got == unanswered {
		d.InPlace, d.How = false, byDynamoDB
	}
	return []Difference{d}
}

func ifOn(set bool) string {
	if set {
		return on
	}
	return ""
}

// keyIDOf returns the ARN of the KMS key, awsManaged if the answer does not name
// it, and "" for DynamoDB's own key.
func keyIDOf(sse *types.SSEDescription) string {
	switch {
	case sse == nil, sse.SSEType != types.SSETypeKms, sse.Status == types.SSEStatusDisabled, sse.Status == types.SSEStatusDisabling:
		return ""
	case aws.ToString(sse.KMSMasterKeyArn) == "":
		return awsManaged
	}
	return *sse.KMSMasterKeyArn
}

// sameKMSKey compares a key as it is named with what DynamoDB describes, which is
// the key's ARN. An alias is not described, so any key is accepted for an alias.
func sameKMSKey(named, described string) bool {
	_, id, isKey := strings.Cut(described, ":key/")
	switch {
	case named == described:
		return true
	case !isKey:
		return false
	case strings.HasPrefix(named, "alias/"), strings.Contains(named, ":alias/"):
		return true
	}
	return named == id
}

func kindsOf(definitions []types.AttributeDefinition) map[string]types.ScalarAttributeType {
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range definitions {
		kinds[aws.ToString(a.AttributeName)] = a.AttributeType
	}
	return kinds
}

// partsOf returns a deployed key. That of an index may have several attributes in
// either role, which no definition has.
func partsOf(elements []types.KeySchemaElement, kinds map[string]types.ScalarAttributeType) []part {
	var parts []part
	for _, element := range elements {
		name := aws.ToString(element.AttributeName)
		parts = append(parts, part{Attribute{name, kinds[name]}, element.KeyType})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.role, b.role) }) // HASH before RANGE
	return parts
}

// String writes the key as "(chatId S, messageId N)".
func (k Key) String() string { return textOf(k.parts()) }

// textOf writes a deployed key as [Key.String] does, with several partition
// attributes in parentheses of their own: "((tenant S, day S), number N)".
func textOf(parts []part) string {
	var partition, sort []string
	for _, p := range parts {
		if p.role == types.KeyTypeHash {
			partition = append(partition, p.text())
		} else {
			sort = append(sort, p.text())
		}
	}

	first := strings.Join(partition, ", ")
	if len(partition) > 1 {
		first = "(" + first + ")"
	}

	return "(" + strings.Join(append([]string{first}, sort...), ", ") + ")"
}

func (a Attribute) text() string { return a.Name + " " + string(a.Type) }

// projectionOf writes what an index projects: "KEYS_ONLY", "INCLUDE (name, day)".
func projectionOf(projection *types.Projection) string {
	switch {
	case projection == nil:
		return ""
	case len(projection.NonKeyAttributes) > 0:
		return fmt.Sprintf("%s (%s)", projection.ProjectionType, strings.Join(projection.NonKeyAttributes, ", "))
	}
	return string(projection.ProjectionType)
}
