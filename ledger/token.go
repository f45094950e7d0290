package ledger

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
)

// tokenVersion is the first byte of every token.
const tokenVersion = 1

// longestToken bounds what is read: a key of 2,048 bytes, and little beside it.
const longestToken = 4 << 10

// Token returns the claim as text, with which another process can go on by
// [Store.Resume]: a callback at the end of a job, or the next step of a workflow. It is
// a secret, because its bearer can take over the claim, and it discloses the key.
//
// Until the Resume, nothing renews the lease: call [Claim.Renew], or make [Request.Lease]
// long enough; the token stays valid. Make no token inside [Do], which completes the
// claim itself.
func (c *Claim) Token() string {
	raw := []byte{tokenVersion}
	raw = binary.AppendVarint(raw, c.Fence)
	raw = binary.AppendVarint(raw, int64(c.span))
	raw = binary.AppendVarint(raw, int64(c.life))
	raw = append(append(raw, byte(len(c.nonce))), c.nonce...)
	raw = append(raw, c.Key...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseToken reads what Token wrote: a claim that is not known to be held.
func (s *Store) parseToken(token string) (*Claim, error) {
	c := &Claim{store: s}
	refuse := func(why string) (*Claim, error) { return nil, event.BadInput(pkg, "token", why) }
	if len(token) > longestToken {
		return refuse("is too long to be a token")
	}

	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < 5 {
		return refuse("is not a token")
	}

	body, sum := raw[:len(raw)-4], raw[len(raw)-4:]
	if binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return refuse("is damaged")
	}
	if body[0] != tokenVersion {
		return refuse("is of another version")
	}

	body = body[1:]
	for _, to := range []*int64{&c.Fence, (*int64)(&c.span), (*int64)(&c.life)} {
		value, n := binary.Varint(body)
		if n <= 0 {
			return refuse("is not a token")
		}
		*to, body = value, body[n:]
	}

	if len(body) == 0 || len(body) <= int(body[0]) {
		return refuse("is not a token")
	}

	body, ends := body[1:], int(body[0])
	c.nonce, c.Key = string(body[:ends]), string(body[ends:])
	if err := check.PartitionKey(pkg, "token", c.Key); err != nil {
		return nil, err
	}

	return c, s.cfg.checkTerms(c.terms, "token", "token")
}

const resumeUpdate = "SET #claim = :new, #fence = #fence + :one, #lease = :lease, #expiresAt = :expires REMOVE #holder"

// Resume takes over a claim from the worker that holds it, by its [Claim.Token]. The
// claim that it returns has a higher fence and a new token, and its lease begins anew
// with the same length. No attempt is counted. From then on, the former holder and a
// second Resume with the same token get [ErrLeaseLost].
//
// Resume works even after the lease has lapsed. It returns a [*DoneError] or a
// [*PermanentError] if the claim has ended, ErrLeaseLost if it is no longer held or its
// row is deleted, and an [*event.InputError] for text that is not a token.
//
// After a lost reply, Resume recognizes its own takeover. If the context ends before
// the answer comes, Resume gives the key up, as [Store.Claim] does; the attempt still
// counts.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (s *Store) Resume(ctx context.Context, token string) (*Claim, error) {
	from, err := s.parseToken(token)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // nothing is sent, so nothing need be given up
		return nil, s.wrap("Resume", err)
	}

	nonce, err := s.nonce("Resume")
	if err != nil {
		return nil, err
	}

	stands, err := s.takeOver(ctx, from, nonce)
	if ctx.Err() != nil {
		s.abandon(ctx, from.Key, nonce, from.life, 0)
		return nil, s.wrap("Resume", ctx.Err())
	}

	switch {
	case err != nil:
		return nil, err
	case stands.claim == nonce && stands.State == Claimed: // by this try, or an earlier one
		return s.granted(stands, from.terms), nil
	case stands.claim != from.nonce || stands.Fence != from.Fence:
		return nil, ErrLeaseLost
	}

	if err := s.ended(stands); err != nil {
		return nil, err
	}
	return nil, errGivenUp
}

// takeOver returns the row after a resumption, or the existing row if it is
// refused.
func (s *Store) takeOver(ctx context.Context, from *Claim, nonce string) (stands row, err error) {
	now := s.cfg.Now()
	in := s.updateInput(from.Key, resumeUpdate, held)
	in.ExpressionAttributeValues = from.values()
	in.ExpressionAttributeValues[":new"] = item.S(nonce)
	in.ExpressionAttributeValues[":one"] = item.N(1)
	in.ExpressionAttributeValues[":lease"] = item.N(now.Add(from.span).UnixMilli())
	in.ReturnValues = types.ReturnValueAllNew
	stands, _, err = s.change(ctx, "Resume", in)
	return stands, err
}
