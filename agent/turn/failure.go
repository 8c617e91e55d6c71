package turn

import (
	"errors"
	"fmt"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// outcome is how a turn ended: code and text are those of a failure.
type outcome struct {
	end        transcript.End
	code, text string
}

func failed(code, text string) outcome { return outcome{transcript.Failed, code, text} }

func logFailure(err error) outcome {
	return failed(CodeLog, fmt.Sprintf("The conversation could not be saved (%v), so the turn was stopped. Free some disk space or mend the disk, then send the message again.", err))
}

func internalFailure(p any) outcome {
	return failed(CodeInternal, fmt.Sprintf("Something inside went wrong (%v). The conversation is saved; send a message to go on.", p))
}

// requestFailure says what to do about a failed request.
func requestFailure(err error) outcome {
	var e *model.Error
	if !errors.As(err, &e) {
		return failed(string(model.ErrServer), fmt.Sprintf("The model could not answer: %v. Send a message to try again.", err))
	}
	return failed(string(e.Kind), advice(e))
}

func advice(e *model.Error) string {
	switch e.Kind {
	case model.ErrAuth:
		return fmt.Sprintf("The provider refused the key (%s). Add or replace the key in settings, then send a message.", e.Message)
	case model.ErrNetwork:
		return fmt.Sprintf("The provider could not be reached (%s). Check the network connection, then send a message to go on.", e.Message)
	case model.ErrRateLimit:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("The provider limits how often it answers (%s). Send a message again in %s.", e.Message, e.RetryAfter.Round(time.Second))
		}
		return fmt.Sprintf("The provider limits how often it answers (%s). Wait a little, then send a message to go on.", e.Message)
	case model.ErrQuota:
		return fmt.Sprintf("The account's quota is used up (%s). Check billing at the provider or choose another model.", e.Message)
	case model.ErrOverloaded, model.ErrServer:
		return fmt.Sprintf("The provider has trouble (%s). Wait a little, then send a message to go on, or choose another model.", e.Message)
	case model.ErrOverflow:
		return fmt.Sprintf("The conversation is too long for this model (%s). Choose a model with a larger context, or start a new workspace.", e.Message)
	case model.ErrNotFound:
		return fmt.Sprintf("The provider does not know this model (%s). Choose another model.", e.Message)
	case model.ErrBadRequest:
		return fmt.Sprintf("The provider did not accept the request (%s). Choose another model, or start a new workspace if it stays so.", e.Message)
	case model.ErrCancelled:
		return fmt.Sprintf("The request was cancelled (%s). Send a message to go on.", e.Message)
	}
	return e.Message
}
