package main

import "context"

func measureStreams(context.Context, *bench) ([]line, error) { return nil, errSkipped }
