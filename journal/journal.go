package journal

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/faultlog"
	"muster/store"
)

// Stream is the realm's stream as the journal's group reads it; see store.StreamReader.
type Stream interface {
	Begin(ctx context.Context, fromBeginning bool) error
	Read(ctx context.Context, count int, block time.Duration) ([]store.StreamEntry, error)
	Claim(ctx context.Context, count int) ([]store.StreamEntry, error)
	Ack(ctx context.Context, entries ...store.StreamEntry) error
	Postpone(ctx context.Context, entry store.StreamEntry, wait time.Duration) error
	Bury(ctx context.Context, entry store.StreamEntry, reason string) error
	Tidy(ctx context.Context) error
}

// Store is what else the journal needs of Redis; see store.Store.
type Store interface {
	StreamLength(ctx context.Context) (int64, error)
}

// Options are what a journal is made of.
type Options struct {
	// URL is postgres://…
	URL    string
	Realm  string
	Store  Store
	Stream Stream
	// Attempts is how often an entry that PostgreSQL refuses is delivered before it becomes a dead letter.
	Attempts int
	// Outgoing is what is to be told of an event; nil for nothing.
	Outgoing func(store.Event) ([]Outgoing, error)
	// OutboxFilled is called when something new is in the outbox; nil where nobody asks.
	OutboxFilled func()
	Log          zerolog.Logger
	Observer     Observer
}

// Observer is told what the journal does; what is nil is not told. It must not block.
type Observer struct {
	// Written counts entries that are written, Dead those that became dead letters.
	Written, Dead func(entries int)
	// Failed counts transactions that PostgreSQL did not carry out, Refused entries that it would not take.
	Failed, Refused func()
	// Waiting is how many entries the stream keeps, of store.JournalBound at most.
	Waiting func(entries int64)
}

// Hold is how long an entry stays with an instance that says nothing: longer than a transaction may take.
const Hold = 15 * time.Second

// Journal writes the durable record, and reads it.
type Journal struct {
	*Database
	opts Options
	// migrated is closed when the tables are there.
	migrated chan struct{}

	mu     sync.Mutex
	cancel context.CancelFunc // guarded by mu
	done   sync.WaitGroup

	// postgres, redis and dead log how these fare, and the entries that are given up.
	postgres, redis, dead *faultlog.Log

	claimed time.Time // when the writer last looked for entries of others; its own
}

// New puts a journal together. It does not wait for PostgreSQL.
func New(ctx context.Context, opts Options) (*Journal, error) {
	database, err := OpenDatabase(ctx, opts.URL, opts.Realm)
	if err != nil {
		return nil, err
	}
	log := opts.Log.With().Str("realm", opts.Realm).Logger()
	const kept = "; the stream keeps what happens"
	return &Journal{
		Database: database, opts: opts, migrated: make(chan struct{}),
		postgres: faultlog.New(log, faultlog.Messages{
			Level: zerolog.WarnLevel, Fails: "journal waits for postgres" + kept, Works: "journal goes on", Reached: "journal reached postgres",
		}),
		redis: faultlog.New(log, faultlog.Messages{Level: zerolog.WarnLevel, Fails: "journal waits for redis" + kept, Works: "journal goes on"}),
		dead:  faultlog.New(log, faultlog.Messages{Level: zerolog.ErrorLevel, Fails: "entry of the stream given up; see muster journal dead"}),
	}, nil
}

// Start begins to write, as soon as PostgreSQL and Redis answer.
func (j *Journal) Start(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cancel != nil {
		return nil
	}
	ctx, j.cancel = context.WithCancel(ctx)
	j.done.Go(func() { j.run(ctx) })
	j.done.Go(func() { j.keep(ctx) })
	return nil
}

// Migrated is closed when the tables are there: before, nothing can be asked of the record.
func (j *Journal) Migrated() <-chan struct{} { return j.migrated }

// Stop ends the writing, and the connections. What is not written is another instance's.
func (j *Journal) Stop() {
	j.mu.Lock()
	cancel := j.cancel
	j.mu.Unlock()
	if cancel != nil {
		cancel()
		j.done.Wait()
	}
	j.Close()
}

// told calls a function of the observer that may be nil.
func told(f func()) {
	if f != nil {
		f()
	}
}
