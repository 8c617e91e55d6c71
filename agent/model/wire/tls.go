package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

// Distrust says why a server was not talked to over TLS, and how to mend it; false for any other error.
// host is as in the URL. Trying again helps with none of these.
func Distrust(err error, host string) (problem, mend string, ok bool) {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		verify  *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"): // it has no type
		return host + " does not speak https.", "Write the base URL with http://, or use the port that speaks https.", true
	case errors.As(err, &unknown):
		return "The certificate of " + host + " is from an authority that this computer does not know.",
			"If it is your own or a company's proxy signs it, install its certificate, or set SSL_CERT_FILE to it and start Carrel again.", true
	case errors.As(err, &name):
		return "The certificate of " + host + " is for another name.", "Use the name that the server's certificate has.", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "The certificate of " + host + " has expired, or this computer's clock is wrong.", "Check the clock, then ask whoever runs the server.", true
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "The certificate of " + host + " is not valid.", "Ask whoever runs the server.", true
	}
	return "", "", false
}
