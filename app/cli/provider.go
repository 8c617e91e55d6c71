package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func providerCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "provider", Aliases: []string{"providers"}, Short: "List, test and log in at model providers"},
		providerList(io), providerTest(io), providerLogin(io), providerLogout(io))
}

func providerList(io IO) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List providers and how they are set up", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				all := []app.Provider{}
				if err := s.Call(ctx, "settings.providers", nil, &all); err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, all)
				}
				rows := make([][]string, 0, len(all))
				for _, p := range all {
					rows = append(rows, []string{p.ID, p.Name, providerState(p), p.KeySource, p.BaseURL})
				}
				return table(io, []string{"ID", "NAME", "STATE", "KEY FROM", "BASE URL"}, rows)
			})
		}}
}

func providerState(p app.Provider) string {
	switch {
	case p.Error != "":
		return "broken: " + p.Error
	case !p.Enabled:
		return "off"
	case p.Configured:
		return "ready"
	}
	return "no key"
}

// testLine is what programs get of one test.
type testLine struct {
	Provider string `json:"provider"`
	app.ProviderTest
}

func providerTest(io IO) *cobra.Command {
	return &cobra.Command{Use: "test [PROVIDER...]", Short: "Make a small call and say what is wrong and how to mend it",
		Long: `Test asks each provider for a few words, which costs next to nothing, and says what is wrong and how to
mend it when that fails. Without arguments it tests every provider that is set up.

Exit codes: 0 all work, 1 one does not.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				return testProviders(ctx, io, isJSON(cmd), s, args)
			})
		}}
}

func testProviders(ctx context.Context, io IO, asJSON bool, s wire.Caller, ids []string) error {
	if len(ids) == 0 {
		var all []app.Provider
		if err := s.Call(ctx, "settings.providers", nil, &all); err != nil {
			return err
		}
		for _, p := range all {
			if p.Configured && p.ID != "demo" || p.Error != "" && p.Enabled {
				ids = append(ids, p.ID)
			}
		}
	}
	if len(ids) == 0 {
		return &app.Error{Code: "no_key", Message: "No provider is set up yet. Add a key under Settings, Providers, or set an environment variable such as ANTHROPIC_API_KEY."}
	}
	lines, failed := make([]testLine, 0, len(ids)), 0
	for _, id := range ids {
		l := testLine{Provider: id}
		if err := s.Call(ctx, "settings.testProvider", app.ByID{ID: id}, &l.ProviderTest); err != nil {
			return err
		}
		if !l.OK {
			failed++
		}
		lines = append(lines, l)
		if !asJSON {
			showTest(io, l)
		}
	}
	if asJSON {
		if err := printJSON(io.Out, lines); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &exitError{code: exitFailure}
	}
	return nil
}

func showTest(io IO, l testLine) {
	if l.OK {
		_, _ = fmt.Fprintf(io.Out, "%s works (%s, %d ms)\n", line(l.Provider), line(l.Model), l.LatencyMS)
		return
	}
	_, _ = fmt.Fprintf(io.Out, "%s does not work: %s\n", line(l.Provider), line(l.Problem))
	if l.Mend != "" {
		_, _ = fmt.Fprintf(io.Out, "  %s\n", line(l.Mend))
	}
}

func modelCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "model", Aliases: []string{"models"}, Short: "List models"}, modelList(io))
}

func modelList(io IO) *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the models that can be chosen", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				found := []app.Model{}
				if err := s.Call(ctx, "settings.models", nil, &found); err != nil {
					return err
				}
				shown := make([]app.Model, 0, len(found))
				for _, m := range found {
					if all || m.Available {
						shown = append(shown, m)
					}
				}
				if isJSON(cmd) {
					return printJSON(io.Out, shown)
				}
				rows := make([][]string, 0, len(shown))
				for _, m := range shown {
					rows = append(rows, []string{m.ID, m.Name, strings.Join(m.Aliases, " "), tokensOf(m.Context), strings.Join(m.Levels, " "), pricesOf(m.Prices)})
				}
				return table(io, []string{"ID", "NAME", "SHORT", "CONTEXT", "THINKING", "IN/OUT USD PER MILLION"}, rows)
			})
		}}
	c.Flags().BoolVarP(&all, "all", "a", false, "also those whose provider is not set up")
	return c
}

func tokensOf(n int64) string {
	switch {
	case n == 0:
		return ""
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

func pricesOf(p *app.ModelPrices) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%g/%g", p.Input, p.Output)
}
