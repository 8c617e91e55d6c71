package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

// coderOnly refuses what is no provider that one logs in at.
func coderOnly(args []string) error {
	if args[0] != "coder" {
		return &app.Error{Code: "bad_request", Message: fmt.Sprintf("There is no login at %q. Only coder has one; other providers take a key.", line(args[0]))}
	}
	return nil
}

func providerLogin(io IO) *cobra.Command {
	var url string
	c := &cobra.Command{Use: "login coder --url ADDRESS", Short: "Log in at a Coder deployment, for its AI Gateway",
		Long: `Login prints an address. Open it in a browser on this machine and approve: the browser comes back to this
machine, and the models of the deployment's AI Gateway can be used as coder:PROVIDER/MODEL. Without --url it
logs in again at the deployment that is set up.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := coderOnly(args); err != nil {
				return err
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error { return loginCoder(ctx, io, isJSON(cmd), s, url) })
		}}
	c.Flags().StringVar(&url, "url", "", "the deployment's address, such as https://coder.example.com")
	return c
}

func loginCoder(ctx context.Context, io IO, asJSON bool, s wire.Caller, url string) error {
	if url == "" {
		var now app.CoderState
		if err := s.Call(ctx, "settings.coder", nil, &now); err != nil {
			return err
		}
		if url = now.URL; url == "" {
			return &app.Error{Code: "bad_request", Message: "Name the deployment: carrel provider login coder --url https://coder.example.com"}
		}
	}
	var login app.CoderLogin
	if err := s.Call(ctx, "settings.loginCoder", app.LoginCoder{URL: url}, &login); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(io.Err, "Open this address and approve the login:\n\n  %s\n\n", line(login.Address))
	var state app.CoderState
	if err := s.Call(ctx, "settings.awaitCoder", app.ByID{ID: login.ID}, &state); err != nil {
		return err
	}
	if asJSON {
		return printJSON(io.Out, state)
	}
	names := make([]string, 0, len(state.Providers))
	for _, p := range state.Providers {
		names = append(names, p.Name)
	}
	_, _ = fmt.Fprintf(io.Out, "Logged in at %s. Providers of its gateway: %s\n", line(state.URL), line(strings.Join(names, ", ")))
	return nil
}

func providerLogout(io IO) *cobra.Command {
	return &cobra.Command{Use: "logout coder", Short: "Revoke the login at Coder and forget it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := coderOnly(args); err != nil {
				return err
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				if err := s.Call(ctx, "settings.logoutCoder", nil, nil); err != nil {
					return err
				}
				_, _ = fmt.Fprintln(io.Out, "Logged out.")
				return nil
			})
		}}
}
