package workspaces

import (
	"context"
	"sync"
)

// jobs owns the background work of a Desks: hooks and spares. Each job has a key, and one job of a
// key runs at a time.
type jobs struct {
	mu     sync.Mutex
	closed bool
	all    map[string]*job
}

type job struct {
	cancel context.CancelFunc
	done   chan struct{}
	again  bool // asked for once more while running
}

// start runs work in the background unless a job of that key runs; then it says false. The context
// ends with stop or close.
func (j *jobs) start(key string, work func(context.Context)) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.all[key] != nil {
		return false
	}
	j.launch(key, work)
	return true
}

// ask runs work in the background; when it runs already it runs once more after that.
func (j *jobs) ask(key string, work func(context.Context)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch running := j.all[key]; {
	case j.closed:
	case running != nil:
		running.again = true
	default:
		j.launch(key, work)
	}
}

func (j *jobs) launch(key string, work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	this := &job{cancel: cancel, done: make(chan struct{})}
	if j.all == nil {
		j.all = make(map[string]*job)
	}
	j.all[key] = this
	go func() {
		defer close(this.done)
		defer cancel()
		for more := true; more; more = j.rest(ctx, key, this) {
			work(ctx)
		}
	}()
}

// rest ends a job, or says true when it was asked for again.
func (j *jobs) rest(ctx context.Context, key string, this *job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if this.again && ctx.Err() == nil {
		this.again = false
		return true
	}
	delete(j.all, key)
	return false
}

// running says whether a job of that key runs.
func (j *jobs) running(key string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all[key] != nil
}

// stop ends the job of that key and waits for it.
func (j *jobs) stop(key string) {
	j.mu.Lock()
	this := j.all[key]
	j.mu.Unlock()
	if this != nil {
		this.cancel()
		<-this.done
	}
}

// close ends all jobs, waits for them and lets none start again.
func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	waiting := make([]*job, 0, len(j.all))
	for _, this := range j.all {
		this.cancel()
		waiting = append(waiting, this)
	}
	j.mu.Unlock()
	for _, this := range waiting {
		<-this.done
	}
}
