package main
import "context"
func measureWorkspace(context.Context, *bench) ([]line, error) { return nil, errSkipped }
func measureRefresh(context.Context, *bench) ([]line, error) { return nil, errSkipped }
func measureConversation(context.Context, *bench) ([]line, error) { return nil, errSkipped }
func measureWire(context.Context, *bench) ([]line, error) { return nil, errSkipped }
func measureStreams(context.Context, *bench) ([]line, error) { return nil, errSkipped }
