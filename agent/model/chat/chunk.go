package chat

import (
	"encoding/json"
	"math"

	"carrel/agent/model"
)

// chunk is one event. Its fields are those of many servers.
type chunk struct {
	Choices []struct {
		Delta        delta           `json:"delta"`
		Finish       string          `json:"finish_reason"`
		NativeFinish string          `json:"native_finish_reason"`
		Error        json.RawMessage `json:"error"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
	Tier  string          `json:"service_tier"`
	// Citations are xAI's and Perplexity's addresses, Found what Z.ai's search found.
	Citations []string `json:"citations"`
	Found     []struct {
		Link  string `json:"link"`
		Title string `json:"title"`
	} `json:"web_search"`
}

type delta struct {
	Content          spoken          `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	Details          json.RawMessage `json:"reasoning_details"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	Annotations      []struct {
		Citation struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"url_citation"`
	} `json:"annotations"`
}

// spoken is text, or a list of texts and thoughts.
type spoken struct{ text, thought string }

// UnmarshalJSON reads both forms. What it does not know it leaves out.
func (s *spoken) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return json.Unmarshal(raw, &s.text)
	}
	var list []struct {
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, p := range list {
		s.text += p.Text
		for _, t := range p.Thinking {
			s.thought += t.Text
		}
	}
	return nil
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	// Extra has to come back with the call; Gemini's signatures are in it.
	Extra json.RawMessage `json:"extra_content"`
}

type usage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// DeepSeek's and Moonshot's own names for cached tokens.
	CacheHit int64 `json:"prompt_cache_hit_tokens"`
	Cached   int64 `json:"cached_tokens"`
	// Cost is OpenRouter's, in USD; Sources is how many xAI billed.
	Cost    float64 `json:"cost"`
	Sources int64   `json:"num_sources_used"`
}

func (u usage) tokens() model.Usage {
	cached := max(u.PromptDetails.Cached, u.CacheHit, u.Cached)
	reasoning := u.CompletionDetails.Reasoning
	output := u.Completion
	if reasoning > 0 && u.Total == u.Prompt+u.Completion+reasoning { // as xAI counts
		output += reasoning
	}
	out := model.Usage{
		Input:      max(0, u.Prompt-cached-u.PromptDetails.CacheWrite),
		Output:     output,
		Reasoning:  reasoning,
		CacheRead:  cached,
		CacheWrite: u.PromptDetails.CacheWrite,
		Searches:   u.Sources,
	}
	if u.Cost > 0 && u.Cost < 1e9 {
		out.Cost = int64(math.Round(u.Cost * 1e6))
	}
	return out
}
