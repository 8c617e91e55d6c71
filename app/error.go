package app

// Error is a failure that a person may read: a stable code for hosts and tests, and a sentence that
// says what happened and what to do. Cause goes to the log only. Any other error reaches hosts with
// the code "internal".
type Error struct {
	Code    string // such as "not_found"; never changes its meaning
	Message string
	Cause   error // may be nil
}

// Error returns the message and its cause, for logs.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
