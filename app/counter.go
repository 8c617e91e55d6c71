package app

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"carrel/agent/tokens"
)

// factorTimeout bounds the saving of what was learned about a model's tokens.
const factorTimeout = 5 * time.Second

// newCounter makes the counter of tokens with what was learned about models before.
func (a *App) newCounter(ctx context.Context, db *sql.DB) *tokens.Counter {
	known, err := tokenFactors(ctx, db)
	if err != nil {
		a.logger.Warn("read what was learned about tokens", "err", err)
	}
	return tokens.New(known, func(model string, f tokens.Factor) {
		ctx, cancel := context.WithTimeout(context.Background(), factorTimeout)
		defer cancel()
		_, err := db.ExecContext(ctx, `INSERT INTO token_factors (model, factor, samples) VALUES (?1, ?2, ?3)
			ON CONFLICT (model) DO UPDATE SET factor = ?2, samples = ?3`, model, f.Value, f.Samples)
		if err != nil {
			a.logger.Warn("keep what was learned about tokens", "model", model, "err", err)
		}
	})
}

func tokenFactors(ctx context.Context, db *sql.DB) (map[string]tokens.Factor, error) {
	rows, err := db.QueryContext(ctx, `SELECT model, factor, samples FROM token_factors`)
	if err != nil {
		return nil, fmt.Errorf("read token factors: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]tokens.Factor{}
	for rows.Next() {
		var model string
		var f tokens.Factor
		if err := rows.Scan(&model, &f.Value, &f.Samples); err != nil {
			return nil, fmt.Errorf("read token factors: %w", err)
		}
		out[model] = f
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read token factors: %w", err)
	}
	return out, nil
}
