package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Subscribe receives what this instance is told until ctx ends. deliver gets each message in order; gap is
// called at every new subscription, since what was published before it is lost. Neither may block for long.
func (s *Store) Subscribe(ctx context.Context, deliver func(Notification), gap func()) {
	sub := s.rdb.Subscribe(ctx, channelOf(s.opts.Realm, s.opts.Instance))
	defer func() { _ = sub.Close() }() // the connection is of no use any more, whatever it says
	messages := sub.ChannelWithSubscriptions(redis.WithChannelSize(subscriptionBuffer))
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			switch m := m.(type) {
			case *redis.Subscription:
				gap()
			case *redis.Message:
				if told, err := parseTold(m.Payload); err == nil {
					deliver(told)
				} else {
					gap() // nobody of ours wrote it, but nothing may be missed
				}
			}
		}
	}
}

// subscriptionBuffer holds messages while the receiver is at the last one; a gap heals what it cannot hold.
const subscriptionBuffer = 1024
