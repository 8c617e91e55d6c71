package catalog

import (
	"context"
	"slices"
)

// listBedrock lists the foundation models that can be asked on demand and the inference profiles of
// the region, as far as they are about text.
func (c *Catalog) listBedrock(ctx context.Context, s settled) ([]Suggestion, error) {
	base := s.controlPlane(c)
	var models struct {
		ModelSummaries []struct {
			ModelID, ModelName, ModelArn      string
			InputModalities, OutputModalities []string
			InferenceTypesSupported           []string
		}
	}
	if err := c.get(ctx, s, base+"/foundation-models", s.auth(), &models); err != nil {
		return nil, err
	}
	var profiles struct {
		InferenceProfileSummaries []struct {
			InferenceProfileID, InferenceProfileName, Status string
			Models                                           []struct{ ModelArn string }
		}
	}
	if err := c.get(ctx, s, base+"/inference-profiles?maxResults=1000", s.auth(), &profiles); err != nil {
		return nil, err
	}
	var out []Suggestion
	text := map[string]bool{}
	for _, m := range models.ModelSummaries {
		text[m.ModelID] = slices.Contains(m.InputModalities, "TEXT") && slices.Contains(m.OutputModalities, "TEXT")
		if text[m.ModelID] && slices.Contains(m.InferenceTypesSupported, "ON_DEMAND") {
			out = append(out, Suggestion{ID: m.ModelID, Name: m.ModelName})
		}
	}
	for _, p := range profiles.InferenceProfileSummaries {
		all := p.Status == "ACTIVE" && len(p.Models) > 0
		for _, m := range p.Models {
			all = all && text[arnModel(m.ModelArn)]
		}
		if all {
			out = append(out, Suggestion{ID: p.InferenceProfileID, Name: p.InferenceProfileName})
		}
	}
	return out, nil
}

// arnModel is the model's id at the end of its ARN.
func arnModel(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == '/' {
			return arn[i+1:]
		}
	}
	return arn
}
