package awsauth

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Nothing that a call starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// home is a home directory with files below ~/.aws.
func home(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, ".aws", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"HOME": dir, "AWS_EC2_METADATA_DISABLED": "true"}
}

// find gives the access key and the session token that are found, or the error.
func find(t *testing.T, env map[string]string, profile string) string {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	p := New(Options{Env: func(k string) string { return env[k] }, Profile: profile, HTTP: &http.Client{Transport: transport}})
	c, err := p.Retrieve(t.Context())
	if err != nil {
		for _, secret := range []string{"SECRET", "TOKEN"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds a secret: %v", err)
			}
		}
		return err.Error()
	}
	return c.AccessKeyID + " " + c.SecretAccessKey + " " + c.SessionToken
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func with(env map[string]string, pairs ...string) map[string]string {
	for i := 0; i+1 < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

const keys = "aws_access_key_id = ID\naws_secret_access_key=SECRET # mine\n"

func TestTheEnvironmentThenTheFiles(t *testing.T) {
	files := map[string]string{
		"credentials": "; comment\n[default]\n" + keys + "[other]\n" + strings.ReplaceAll(keys, "ID", "OTHER") + "aws_session_token = TOKEN\n",
		"config":      "[default]\nregion = eu-west-1\ns3 =\n  max_queue_size = 1\n[profile \"in config\"]\n" + strings.ReplaceAll(keys, "ID", "CONFIG") + "[other]\naws_access_key_id = no\n[profile bare]\nregion = x\n",
	}
	fromEnv := []string{"AWS_ACCESS_KEY_ID", "E", "AWS_SECRET_ACCESS_KEY", "SECRET", "AWS_SESSION_TOKEN", "TOKEN"}
	expect(t, "environment", find(t, with(home(t, files), fromEnv...), ""), "E SECRET TOKEN")
	expect(t, "a profile that was set comes first", find(t, with(home(t, files), fromEnv...), "other"), "OTHER SECRET TOKEN")
	expect(t, "default", find(t, home(t, files), ""), "ID SECRET ")
	expect(t, "AWS_PROFILE", find(t, with(home(t, files), "AWS_PROFILE", "in config"), ""), "CONFIG SECRET ")
	expect(t, "no such profile", find(t, home(t, files), "nobody"), `no profile "nobody"`)
	expect(t, "a profile without", find(t, home(t, files), "bare"), "there are none")
	expect(t, "nothing", find(t, home(t, nil), ""), "there are none")
	moved := with(home(t, map[string]string{"elsewhere": "[default]\n" + keys}), "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/elsewhere")
	expect(t, "another file", find(t, moved, ""), "ID SECRET")
	expect(t, "a broken file", find(t, home(t, map[string]string{"config": "[default\n"}), ""), "lacks its ]")
}

func TestAProcessGivesCredentials(t *testing.T) {
	env := home(t, map[string]string{"config": "[profile p]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"SECRET\"}'\n[profile q]\ncredential_process = echo SECRET >&2; exit 1\n"})
	expect(t, "process", find(t, env, "p"), "P SECRET")
	expect(t, "a process that fails", find(t, env, "q"), "credential_process failed")
}

func TestAWSLoginIsLeftToItsOwnProgram(t *testing.T) {
	env := home(t, map[string]string{"config": "[profile l]\nlogin_session = arn:aws:iam::1:user/x\n"})
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	expect(t, "without the program", find(t, env, "l"), "needs AWS's command line")
	script := "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"'$6'\",\"SecretAccessKey\":\"SECRET\"}'\n"
	if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, "with it", find(t, env, "l"), "l SECRET")
}

// aws is a server of the services that give credentials.
func awsServer(t *testing.T, sees func(r *http.Request, body string) (int, string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status, answer := sees(r, string(body))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestRoles(t *testing.T) {
	seen := ""
	url := awsServer(t, func(r *http.Request, body string) (int, string) {
		seen = r.Header.Get("Authorization") + " " + body
		action := "AssumeRole"
		if strings.Contains(body, "WithWebIdentity") {
			action += "WithWebIdentity"
		}
		if strings.Contains(body, "forbidden") {
			return 403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>SECRET</Message></Error></ErrorResponse>"
		}
		return 200, fmt.Sprintf(`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>R</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey><SessionToken>TOKEN</SessionToken><Expiration>%[2]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`,
			action, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	env := with(home(t, map[string]string{
		"credentials": "[base]\n" + keys, "token": "WEB\n",
		"config": "[profile r]\nrole_arn = arn:role\nsource_profile = base\nexternal_id = x\nregion = eu-west-1\n" +
			"[profile chain]\nrole_arn = arn:second\nsource_profile = r\n[profile loop]\nrole_arn = a\nsource_profile = loop2\n[profile loop2]\nrole_arn = a\nsource_profile = loop\n" +
			"[profile web]\nrole_arn = arn:web\nweb_identity_token_file = ~/.aws/token\n[profile mfa]\nrole_arn = a\nsource_profile = base\nmfa_serial = m\n" +
			"[profile no]\nrole_arn = forbidden\nsource_profile = base\n[profile lost]\nrole_arn = a\nsource_profile = gone\n[profile env]\nrole_arn = a\ncredential_source = Environment\n",
	}), "AWS_ENDPOINT_URL_STS", url)
	expect(t, "role", find(t, env, "r"), "R SECRET TOKEN")
	for _, want := range []string{"Credential=ID/", "/eu-west-1/sts/aws4_request", "RoleArn=arn%3Arole", "ExternalId=x"} {
		expect(t, "request", seen, want)
	}
	expect(t, "a role behind a role", find(t, env, "chain"), "R SECRET TOKEN")
	expect(t, "request", seen, "Credential=R/")
	expect(t, "web identity", find(t, env, "web"), "R SECRET TOKEN")
	expect(t, "request", seen, "WebIdentityToken=WEB")
	expect(t, "web identity of the environment", find(t, with(env, "AWS_WEB_IDENTITY_TOKEN_FILE", env["HOME"]+"/.aws/token", "AWS_ROLE_ARN", "arn:env"), ""), "R SECRET")
	expect(t, "a loop", find(t, env, "loop"), "too many roles")
	expect(t, "a second factor", find(t, env, "mfa"), "second factor")
	expect(t, "refused", find(t, env, "no"), "HTTP 403 AccessDenied")
	expect(t, "no source", find(t, env, "lost"), `no source_profile "gone"`)
	expect(t, "the environment's keys", find(t, with(env, "AWS_ACCESS_KEY_ID", "E", "AWS_SECRET_ACCESS_KEY", "SECRET"), "env"), "R SECRET")
	expect(t, "request", seen, "Credential=E/")
}

func TestSSO(t *testing.T) {
	renewals := 0
	url := awsServer(t, func(r *http.Request, body string) (int, string) {
		if r.URL.Path == "/token" {
			renewals++
			if !strings.Contains(body, `"refreshToken":"REFRESH"`) {
				return 400, "{}"
			}
			return 200, `{"accessToken":"NEW","expiresIn":3600,"refreshToken":"REFRESH2"}`
		}
		if bearer := r.Header.Get("X-Amz-Sso_bearer_token"); bearer != "GOOD" && bearer != "NEW" || r.URL.Query().Get("role_name") != "Dev" {
			return 401, "{}"
		}
		return 200, fmt.Sprintf(`{"roleCredentials":{"accessKeyId":"S","secretAccessKey":"SECRET","sessionToken":"TOKEN","expiration":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	})
	cache := func(name string) string {
		sum := sha1.Sum([]byte(name))
		return "sso/cache/" + hex.EncodeToString(sum[:]) + ".json"
	}
	login := func(token string, left time.Duration, more string) string {
		return fmt.Sprintf(`{"accessToken":%q,"expiresAt":%q%s}`, token, time.Now().Add(left).UTC().Format(time.RFC3339), more)
	}
	renewable := fmt.Sprintf(`,"refreshToken":"REFRESH","clientId":"c","clientSecret":"s","other":7,"registrationExpiresAt":%q`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	account := "sso_account_id = 1\nsso_role_name = Dev\n"
	env := with(home(t, map[string]string{
		"config": "[sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://corp\n[sso-session old]\nsso_region = us-east-1\n" +
			"[profile new]\nsso_session = corp\n" + account + "[profile old]\nsso_session = old\n" + account + "[profile lost]\nsso_session = gone\n" + account +
			"[profile legacy]\nsso_start_url = https://legacy\nsso_region = us-east-1\n" + account + "[profile out]\nsso_start_url = https://nobody\nsso_region = us-east-1\n" + account,
		cache("corp"): login("GOOD", time.Hour, ""), cache("old"): login("STALE", -time.Hour, renewable), cache("https://legacy"): login("GOOD", -time.Hour, ""),
	}), "AWS_ENDPOINT_URL_SSO", url, "AWS_ENDPOINT_URL_SSO_OIDC", url)
	expect(t, "session", find(t, env, "new"), "S SECRET TOKEN")
	expect(t, "a session that is renewed", find(t, env, "old"), "S SECRET TOKEN")
	expect(t, "and again", find(t, env, "old"), "S SECRET TOKEN")
	path := filepath.Join(env["HOME"], ".aws", cache("old"))
	kept, err := os.ReadFile(path)
	if err != nil || renewals != 1 || !strings.Contains(string(kept), `"REFRESH2"`) || !strings.Contains(string(kept), `"other":7`) {
		t.Errorf("%d renewals, %s, %v", renewals, kept, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	expect(t, "a login that ended", find(t, env, "legacy"), "expired; run `aws sso login --profile legacy`")
	expect(t, "nobody", find(t, env, "out"), "nobody is logged in; run `aws sso login --profile out`")
	expect(t, "no session", find(t, env, "lost"), `no sso-session "gone"`)
}

func TestContainersAndMachines(t *testing.T) {
	url := awsServer(t, func(r *http.Request, _ string) (int, string) {
		creds := fmt.Sprintf(`{"Code":"Success","AccessKeyId":"M","SecretAccessKey":"SECRET","Token":"TOKEN","Expiration":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		switch r.URL.Path {
		case "/container":
			if r.Header.Get("Authorization") != "AUTH" {
				return 401, "{}"
			}
			return 200, creds
		case "/latest/api/token":
			return 200, "t"
		case "/latest/meta-data/iam/security-credentials/":
			return 200, "role"
		case "/latest/meta-data/iam/security-credentials/role":
			return 200, creds
		}
		return 404, ""
	})
	env := with(home(t, nil), "AWS_CONTAINER_CREDENTIALS_FULL_URI", url+"/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AUTH")
	expect(t, "container", find(t, env, ""), "M SECRET TOKEN")
	expect(t, "no token", find(t, with(env, "AWS_CONTAINER_AUTHORIZATION_TOKEN", ""), ""), "can't be had")
	expect(t, "elsewhere", find(t, with(env, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/x"), ""), "must be https")
	machine := with(home(t, nil), "AWS_EC2_METADATA_DISABLED", "", "AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
	expect(t, "machine", find(t, machine, ""), "M SECRET TOKEN")
	expect(t, "no machine", find(t, with(machine, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1"), ""), "no role")
}

func FuzzFiles(f *testing.F) {
	f.Add("[default]\naws_access_key_id=a\n[profile x]\n y = z\n[sso-session s]\na=b #c")
	f.Add("[]\n=\n[profile]\n[\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, config := range []bool{true, false} {
			out := files{profiles: map[string]section{}, sessions: map[string]section{}}
			_ = out.read(strings.NewReader(text), config) // it may fail, not panic
		}
	})
}
