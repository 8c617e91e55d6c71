package catalog

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"carrel/agent/model/wire"
)

// unreachable says why a server could not be asked, and how to mend it. host is as in the URL.
func unreachable(err error, host string) (code, problem, mend string) {
	var (
		dns *net.DNSError
		op  *net.OpError
	)
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "proxy", "The proxy of HTTPS_PROXY or HTTP_PROXY can't be reached.", "Check these variables, or name the host in NO_PROXY."
	case errors.As(err, &dns):
		return "dns", "There is no server named " + dns.Name + ", or names can't be looked up.", "Check the base URL's spelling and the network."
	}
	if problem, mend, ok := wire.Distrust(err, host); ok {
		return "tls", problem, mend
	}
	switch {
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
