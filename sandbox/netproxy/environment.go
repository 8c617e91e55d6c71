package netproxy

import (
	"net"
	"strings"

	"carrel/sandbox/netproxy/connect"
)

// Tools says what else a command's environment can count on.
type Tools struct {
	// Helper is the absolute path of our static helper inside the sandbox, which ssh goes through; "" leaves
	// ssh out.
	Helper string
	// Captured is whether ServeTransparent catches what ignores the variables. Tools that know proxies but
	// can't show credentials (plain Java) are left to it then.
	Captured bool
}

// Environment returns the variables ("NAME=value") that send a command's tools through the proxy at addr
// ("127.0.0.1:PORT"): both cases for those who read either, git, node, yarn, java, grpc, ssh. They hold the
// command's credentials, which end with it.
func Environment(addr string, c Credentials, t Tools) []string {
	// An http URL for all of them: many clients lack SOCKS and stop at its scheme.
	proxy := "http://" + c.User + ":" + c.Password + "@" + addr
	const direct = "localhost,127.0.0.1,::1" // a command's own servers
	env := []string{
		connect.Variable + "=" + proxy,
		// Else git asks without credentials first, for each connection.
		"GIT_HTTP_PROXY_AUTHMETHOD=basic",
		"NODE_USE_ENV_PROXY=1",
		"YARN_HTTP_PROXY=" + proxy, "YARN_HTTPS_PROXY=" + proxy,
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY"} {
		env = append(env, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	for _, name := range []string{"NO_PROXY", "NO_GRPC_PROXY"} {
		env = append(env, name+"="+direct, strings.ToLower(name)+"="+direct)
	}
	if t.Helper != "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o ControlMaster=no -o ControlPath=none -o ProxyCommand="+
			shellQuote(shellQuote(strings.ReplaceAll(t.Helper, "%", "%%"))+" connect %h %p"))
	}
	if !t.Captured {
		env = append(env, "JAVA_TOOL_OPTIONS="+javaOptions(addr, c))
	}
	return env
}

// javaOptions are for the many Java tools that read them all; the Java library itself reads no user.
func javaOptions(addr string, c Credentials) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	var options []string
	for _, scheme := range []string{"http", "https"} {
		options = append(options, "-D"+scheme+".proxyHost="+host, "-D"+scheme+".proxyPort="+port,
			"-D"+scheme+".proxyUser="+c.User, "-D"+scheme+".proxyPassword="+c.Password)
	}
	return strings.Join(append(options, "-Dhttp.nonProxyHosts=localhost|127.*|[::1]",
		"-Djdk.http.auth.tunneling.disabledSchemes="), " ")
}

// TrustEnvironment returns the variables that make tools trust a gateway's authority, whose certificate
// is in the file at path together with those of the system.
func TrustEnvironment(path string) []string {
	var env []string
	for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS",
		"CARGO_HTTP_CAINFO", "PIP_CERT", "REQUESTS_CA_BUNDLE"} {
		env = append(env, name+"="+path)
	}
	return env
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
