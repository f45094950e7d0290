package engine

import (
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// tagged returns the table of an ARN.
func (e *Engine) tagged(arn string) (*table, *api.Error) {
	parts := strings.SplitN(arn, ":", 6)
	switch {
	case parts[0] != "arn":
		return nil, api.InvalidParameter("ARNs must start with 'arn:': %s", arn)
	case len(parts) != 6 || parts[2] != "dynamodb":
		return nil, api.InvalidParameter("Provided Arn is not a DynamoDB resource arn: %s", arn)
	case !strings.HasPrefix(parts[5], "table/") || strings.Contains(parts[5], "/index/"):
		return nil, api.InvalidParameter("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: %s", arn)
	case parts[3] != e.opt.Region:
		return nil, api.Invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
	}

	if parts[4] != e.opt.Account {
		return nil, &api.Error{Code: api.AccessDenied, Message: "User is not authorized to perform this action on resource: " + arn}
	}

	for _, t := range e.tables {
		if t.arn == arn {
			return t, nil
		}
	}
	return nil, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: ResourcArn: " + arn + " not found"}
}

func (e *Engine) tagResource(call *Call, req *api.TagResource) (reply, *api.Error) {
	if err := catalog.CheckTags(len(req.Tags)); err != nil {
		return nil, err
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.tagged(req.Resource.Value)
	if err != nil {
		return nil, err
	}
	if t.def, err = t.def.Tagged(req.Tags); err != nil {
		return nil, err
	}

	e.logRequest(call, e.at(call))
	return nil, nil
}

func (e *Engine) untagResource(call *Call, req *api.UntagResource) (reply, *api.Error) {
	if err := catalog.CheckTags(len(req.Keys)); err != nil {
		return nil, err
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.tagged(req.Resource.Value)
	if err != nil {
		return nil, err
	}
	if t.def, err = t.def.Untagged(req.Keys); err != nil {
		return nil, err
	}

	e.logRequest(call, e.at(call))
	return nil, nil
}

func (e *Engine) listTagsOfResource(call *Call, req *api.ListTagsOfResource) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.tagged(req.Resource.Value)
	if err != nil {
		return nil, err
	}
	def := t.def // the reply is written after the mutex was released
	return def.WriteTags, nil
}
