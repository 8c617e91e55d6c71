package catalog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// unreachable says why a server could not be asked, and how to mend it. host is as in the URL.
func unreachable(err error, host string) (code, problem, mend string) {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		verify  *tls.CertificateVerificationError
		op      *net.OpError
	)
	plain := errors.As(err, &record) || strings.Contains(innermost(err), "server gave HTTP response to HTTPS client") // it has no type
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "proxy", "The proxy of HTTPS_PROXY or HTTP_PROXY can't be reached.", "Check these variables, or name the host in NO_PROXY."
	case errors.As(err, &dns):
		return "dns", "There is no server named " + dns.Name + ", or names can't be looked up.", "Check the base URL's spelling and the network."
	case plain:
		return "tls", host + " does not speak https.", "Write the base URL with http://, or use the port that speaks https."
	case errors.As(err, &unknown):
		return "tls", "The certificate of " + host + " is from an authority that this computer does not know.",
			"If a company's proxy signs it, install its certificate, or set SSL_CERT_FILE to it and start Carrel again."
	case errors.As(err, &name):
		return "tls", "The certificate of " + host + " is for another name.", "Use the name that the server's certificate has."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "tls", "The certificate of " + host + " has expired, or this computer's clock is wrong.", "Check the clock, then ask whoever runs the server."
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "tls", "The certificate of " + host + " is not valid.", "Ask whoever runs the server."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused", "Nothing answers at " + host + ".", "Start the server, or check the port of the base URL."
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no_route", "There is no way to " + host + " from this computer.", "Check the network, a VPN or the firewall."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return "timeout", host + " does not answer in time.", "Check the base URL and the firewall, then try again."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset", host + " closed the connection.", "Check that the base URL's port and http or https are right."
	}
	return "network", host + " can't be reached.", "Check the network and the base URL, then try again."
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// innermost is the text of an error without the method and address that package http puts before it.
func innermost(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}
