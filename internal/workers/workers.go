// Package workers runs short tasks that do not wait on a few goroutines that stay. Each task that has a goroutine of its
// own grows a stack for itself; theirs have grown. It knows nothing of the tasks.
package workers

import "sync"

// Workers are goroutines that run tasks. All methods are safe for concurrent use.
type Workers struct {
	count int

	mu sync.Mutex
	// guarded by mu
	tasks   []func() // that wait, in the order in which they came
	idle    *sync.Cond
	running bool
	ended   sync.WaitGroup
}

// New makes workers. Until they are started, each task has a goroutine of its own.
func New(count int) *Workers {
	w := &Workers{count: count}
	w.idle = sync.NewCond(&w.mu)
	return w
}

// Start starts the workers.
func (w *Workers) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running {
		return
	}
	w.running = true
	for range w.count {
		w.ended.Go(w.work)
	}
}

// Stop waits until what was given to them is done, and ends them. Tasks that come later have goroutines of their own.
// It may be called more than once, and before Start.
func (w *Workers) Stop() {
	w.mu.Lock()
	w.running = false
	w.idle.Broadcast()
	w.mu.Unlock()
	w.ended.Wait()
}

// Do has a task run soon. The task must not wait for anything that takes its time: others wait behind it.
func (w *Workers) Do(task func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		go task()
		return
	}
	w.tasks = append(w.tasks, task)
	w.idle.Signal()
}

func (w *Workers) work() {
	for task := w.next(); task != nil; task = w.next() {
		task()
	}
}

// next waits for a task; nil is the end.
func (w *Workers) next() (task func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.tasks) == 0 {
		if !w.running {
			return nil
		}
		w.idle.Wait()
	}
	task = w.tasks[0]
	w.tasks[0] = nil
	w.tasks = w.tasks[1:]
	return task
}
