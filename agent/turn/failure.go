package turn

import (
	"cmp"
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
		return failed(string(model.ErrServer), fmt.Sprintf("The model could not answer: %v. Retry, or send a message.", err))
	}
	return failed(string(e.Kind), advice(e))
}

// advice says what happened and what to do.
func advice(e *model.Error) string {
	return fmt.Sprintf("%s (%s). %s", what(e.Kind), e.Message, cmp.Or(e.Hint, mend(e)))
}

// mend says what to do where the provider's format knows nothing better.
func mend(e *model.Error) string {
	switch e.Kind {
	case model.ErrAuth:
		return "Add or replace the key in settings, then retry."
	case model.ErrNetwork:
		return "Check the network connection, then retry."
	case model.ErrRateLimit:
		if e.RetryAfter > 0 {
			return asked(e.RetryAfter)
		}
		return "Wait a little, then retry."
	case model.ErrQuota:
		return "Check billing at the provider, or choose another model."
	case model.ErrOverloaded, model.ErrServer:
		return "Wait a little, then retry, or choose another model."
	case model.ErrOverflow:
		return "Choose a model with a larger context, or begin anew with /clear --soft."
	case model.ErrNotFound:
		return "Choose another model."
	case model.ErrBadRequest:
		return "Choose another model, or begin anew with /clear --soft if it stays so."
	case model.ErrCancelled:
	}
	return "Send a message to go on."
}

// asked says for how long a provider wants to be left alone.
func asked(d time.Duration) string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		most, unit time.Duration
		name       string
	}{{2 * time.Minute, time.Second, "second"}, {2 * time.Hour, time.Minute, "minute"}, {2 * day, time.Hour, "hour"}, {60 * day, day, "day"}} {
		if d > u.most {
			continue
		}
		n := int64((d + u.unit - 1) / u.unit)
		if n != 1 {
			u.name += "s"
		}
		return fmt.Sprintf("The provider asks to wait for %d %s. Retry then, or choose another model.", n, u.name)
	}
	return "The provider asks to wait for months, which is most likely a mistake. Wait a little, then retry, or choose another model."
}

// what says in short what a kind of failure is.
func what(k model.ErrorKind) string {
	switch k {
	case model.ErrAuth:
		return "The provider refused the key"
	case model.ErrNetwork:
		return "The provider could not be reached"
	case model.ErrRateLimit:
		return "The provider limits how often it answers"
	case model.ErrQuota:
		return "The account's quota is used up"
	case model.ErrOverloaded, model.ErrServer:
		return "The provider has trouble"
	case model.ErrOverflow:
		return "The conversation is too long for this model"
	case model.ErrNotFound:
		return "The provider does not know this model"
	case model.ErrBadRequest:
		return "The provider did not accept the request"
	case model.ErrCancelled:
		return "The request was cancelled"
	}
	return "The model could not answer"
}
