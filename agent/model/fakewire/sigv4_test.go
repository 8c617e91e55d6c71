package fakewire

import (
	"net/http"
	"testing"
)

// The vectors "get-vanilla", "get-vanilla-query-order-key-case" and "post-vanilla" of AWS's own suite.
func TestSignaturesAreCheckedAsAWSDoes(t *testing.T) {
	for name, x := range map[string]struct{ method, uri, signature string }{
		"get-vanilla":  {"GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"query-order":  {"GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"post-vanilla": {"POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	} {
		r := Request{Method: x.method, Host: "example.amazonaws.com", URI: x.uri, Header: http.Header{}}
		r.Header.Set("X-Amz-Date", "20150830T123600Z")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature="+x.signature)
		const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
		if err := Signed(r, "AKIDEXAMPLE", secret, "service", "us-east-1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range []func(*Request){
			func(r *Request) { r.Method = "PUT" }, func(r *Request) { r.URI = "/x" }, func(r *Request) { r.Host = "h" },
			func(r *Request) { r.Raw = []byte("x") }, func(r *Request) { r.Header = http.Header{} },
		} {
			other := r
			bad(&other)
			if Signed(other, "AKIDEXAMPLE", secret, "service", "us-east-1") == nil {
				t.Errorf("%s: a request that was changed passes", name)
			}
		}
	}
}
