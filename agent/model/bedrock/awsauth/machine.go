package awsauth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// process runs a command that prints credentials.
func (c chain) process(ctx context.Context, command string) (aws.Credentials, error) {
	got, err := processcreds.NewProvider(command).Retrieve(ctx)
	if err != nil {
		return got, errors.New("credential_process failed; run it by hand to see why") // its text could hold anything
	}
	return got, nil
}

// exported asks AWS's command line for what only it knows to get.
func (c chain) exported(ctx context.Context, profile string) (aws.Credentials, error) {
	program, err := exec.LookPath("aws")
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("profile %q is from `aws login`, which needs AWS's command line to be installed", profile)
	}
	build := processcreds.NewCommandBuilderFunc(func(ctx context.Context) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, program, "configure", "export-credentials", "--format", "process", "--profile", profile), nil
	})
	got, err := processcreds.NewProviderCommand(build).Retrieve(ctx)
	if err != nil {
		return got, fmt.Errorf("profile %q has expired; run `aws login` again", profile)
	}
	return got, nil
}

// fromMachine asks the container, else the machine at AWS that this may be.
func (c chain) fromMachine(ctx context.Context) (aws.Credentials, error) {
	if address := c.containerAddress(); address != "" {
		return c.container(ctx, address)
	}
	nothing := errors.New("there are none in the environment or in ~/.aws, and this machine has no role")
	if strings.EqualFold(c.Env("AWS_EC2_METADATA_DISABLED"), "true") {
		return aws.Credentials{}, nothing
	}
	ctx, cancel := context.WithTimeout(ctx, callTime/3)
	defer cancel()
	client := imds.New(imds.Options{Endpoint: c.Env("AWS_EC2_METADATA_SERVICE_ENDPOINT"), HTTPClient: unproxied(),
		ClientEnableState: imds.ClientEnabled, Retryer: aws.NopRetryer{}})
	got, err := ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = client }).Retrieve(ctx)
	if err != nil {
		return got, nothing
	}
	return got, nil
}

func (c chain) containerAddress() string {
	if path := c.Env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		return "http://169.254.170.2" + path
	}
	return c.Env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
}

// container asks an address in the container's own network, and no other without encryption: the
// token would be readable on the way.
func (c chain) container(ctx context.Context, address string) (aws.Credentials, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && !local(u.Hostname()) {
		return aws.Credentials{}, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or an address of this machine")
	}
	p := endpointcreds.New(address, func(o *endpointcreds.Options) {
		o.HTTPClient = unproxied()
		o.Retryer = aws.NopRetryer{}
		o.AuthorizationToken = c.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := c.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				b, err := os.ReadFile(file)
				return strings.TrimSpace(string(b)), err
			})
		}
	})
	got, err := p.Retrieve(ctx)
	if err != nil {
		return got, fmt.Errorf("the container's credentials can't be had from %s", u.Host)
	}
	return got, nil
}

// local reports whether a host is this machine or AWS's address for containers.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	return ip.IsLoopback() || ip.String() == "169.254.170.2" || ip.String() == "169.254.170.23" || ip.String() == "fd00:ec2::23"
}
