package engine

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// tagged returns the table that an ARN names.
func (e *Engine) tagged(arn string) (*table, *api.Error) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || !strings.HasPrefix(parts[5], "table/") {
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
	if len(req.Tags) == 0 {
		return nil, api.Invalid("Atleast one Tag needs to be provided as Input.")
	}
	tags := slices.Clone(t.tags)
	for _, tag := range req.Tags {
		i := slices.IndexFunc(tags, func(have api.Tag) bool { return have.Key == tag.Key })
		if i >= 0 {
			tags[i] = tag
		} else {
			tags = append(tags, tag)
		}
	}
	if err := catalog.CheckTags(len(tags)); err != nil {
		return nil, err
	}
	t.tags = tags
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
	if len(req.Keys) == 0 {
		return nil, api.Invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	t.tags = slices.DeleteFunc(slices.Clone(t.tags), func(tag api.Tag) bool { return slices.Contains(req.Keys, tag.Key) })
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
	tags := t.tags
	return writeFunc(func(w *api.Writer) {
		w.Array("Tags", func() {
			for _, tag := range tags {
				w.Element(func() {
					w.Text("Key", tag.Key)
					w.Text("Value", tag.Value)
				})
			}
		})
	}), nil
}
