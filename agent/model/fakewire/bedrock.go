package fakewire

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// How the paths of Bedrock's two formats end; the model's name is before it.
const (
	invokeAction   = "/invoke-with-response-stream"
	converseAction = "/converse-stream"
)

// bedrockFormat is Anthropic's format at Bedrock.
type bedrockFormat struct{ anthropicFormat }

func (bedrockFormat) name() string { return "bedrock" }

// parse reads the body as Anthropic's, after what differs.
func (f bedrockFormat) parse(r *Request) error {
	body, err := parseFields(r.Raw)
	if err != nil {
		return err
	}
	if v := body.text("anthropic_version"); v != "bedrock-2023-05-31" {
		return fmt.Errorf("anthropic_version: %q is not known", v)
	}
	for _, key := range []string{"model", "stream", "speed", "service_tier"} {
		if body[key] != nil {
			return fmt.Errorf("%s: extra inputs are not permitted", key)
		}
	}
	delete(body, "anthropic_version")
	delete(body, "anthropic_beta")
	body["model"] = encode(modelIn(r.Path, invokeAction))
	inner := *r
	inner.Raw = encode(body)
	err = f.anthropicFormat.parse(&inner)
	inner.Raw = r.Raw
	*r = inner
	if err == nil && r.Search {
		return fmt.Errorf("tools: web_search is not supported")
	}
	return err
}

// modelIn is the model's name in a path.
func modelIn(path, action string) string {
	id := strings.TrimPrefix(strings.TrimSuffix(path, action), "/model/")
	if plain, err := url.PathUnescape(id); err == nil {
		return plain
	}
	return id
}

func (bedrockFormat) media() string { return eventMedia }

func (bedrockFormat) frame(_, data string) string {
	return frame("event", "chunk", encode(object{"bytes": []byte(data), "p": "abcdefgh"}))
}

func (f bedrockFormat) beat() string { return f.frame("", `{"type":"ping"}`) }

func (bedrockFormat) fail(s *stream) { failFrame(s) }

const eventMedia = "application/vnd.amazon.eventstream"

// frame is one message of AWS's event stream.
func frame(kind, name string, payload []byte) string {
	m := eventstream.Message{Payload: payload}
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		panic(err) // the values are ours
	}
	return b.String()
}

// failFrame sends an exception inside the stream.
func failFrame(s *stream) {
	if s.over {
		return
	}
	name := exceptionOf(s.reply.ErrorType)
	s.send(frame("exception", strings.ToLower(name[:1])+name[1:], encode(object{"message": s.reply.ErrorMessage})))
}

// exceptionOf is AWS's name of an error.
func exceptionOf(kind string) string {
	for _, known := range []struct{ word, name string }{
		{"rate_limit", "ThrottlingException"}, {"overloaded", "ServiceUnavailableException"}, {"api_error", "InternalServerException"},
		{"server_error", "InternalServerException"}, {"authentication", "UnrecognizedClientException"}, {"permission", "AccessDeniedException"},
		{"not_found", "ResourceNotFoundException"}, {"invalid_request", "ValidationException"},
	} {
		if strings.Contains(kind, known.word) {
			return known.name
		}
	}
	return kind
}

func writeException(w http.ResponseWriter, r Reply) {
	if name := exceptionOf(r.ErrorType); name != "" {
		w.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(encode(object{"message": r.ErrorMessage})) // the client may be gone
}
