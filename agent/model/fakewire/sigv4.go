package fakewire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Signed checks a request's AWS Signature Version 4 as AWS does, from its specification and apart from
// any client: that it is by the key, for the service and the region, and over the body as it came.
func Signed(r Request, keyID, secret, service, region string) error {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("authorization: %q is no signature", r.Header.Get("Authorization"))
	}
	field := map[string]string{}
	for _, f := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		field[name] = value
	}
	at := r.Header.Get("X-Amz-Date")
	if len(at) != len("20060102T150405Z") {
		return fmt.Errorf("x-amz-date: %q is no time", at)
	}
	scope := strings.Join([]string{at[:8], region, service, "aws4_request"}, "/")
	if field["Credential"] != keyID+"/"+scope {
		return fmt.Errorf("credential is %q, not for %s", field["Credential"], scope)
	}
	names := strings.Split(field["SignedHeaders"], ";")
	if !slices.IsSorted(names) || !slices.Contains(names, "host") {
		return fmt.Errorf("signed headers: %q", names)
	}
	canonical := canonicalRequest(r, names)
	want := sign(secret, scope, at, canonical)
	if !hmac.Equal([]byte(want), []byte(field["Signature"])) {
		return fmt.Errorf("signature is %s, want %s, of:\n%s", field["Signature"], want, canonical)
	}
	return nil
}

func canonicalRequest(r Request, names []string) string {
	path, query, _ := strings.Cut(r.URI, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments { // as they came, escaped once more
		segments[i] = awsEscape(s)
	}
	pairs := strings.Split(query, "&")
	slices.Sort(pairs)
	var headers strings.Builder
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		switch {
		case name == "host":
			value = r.Host
		case name == "content-length" && value == "":
			value = fmt.Sprint(len(r.Raw))
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	sum := sha256.Sum256(r.Raw)
	return strings.Join([]string{r.Method, strings.Join(segments, "/"), strings.Join(pairs, "&"), headers.String(), strings.Join(names, ";"),
		hex.EncodeToString(sum[:])}, "\n")
}

func sign(secret, scope, at, canonical string) string {
	key := []byte("AWS4" + secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	sum := sha256.Sum256([]byte(canonical))
	return hex.EncodeToString(mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hex.EncodeToString(sum[:])}, "\n")))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum(nil)
}

// awsEscape escapes all but letters, digits and -._~.
func awsEscape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%7E", "~")
}
