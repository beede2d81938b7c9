package lua

import (
	"context"
	"crypto/tls"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// newClient builds the client for a URL as go-redis reads them: one host; several (`?addr=host:port` for each
// further one) are a Cluster, or with `?master_name=` the Sentinels of a master. Calls are not retried by it: a
// script whose reply was lost is sent again only by those who know that it may be.
func newClient(raw string, timeout time.Duration) (redis.UniversalClient, error) {
	redis.SetLogger(silent{})
	query := queryOf(raw)
	switch {
	case query.Has("master_name"):
		o, err := redis.ParseFailoverURL(raw)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries = -1, 1
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
		byOwnName(o.TLSConfig)
		return redis.NewFailoverClient(o), nil
	case query.Has("addr"):
		o, err := redis.ParseClusterURL(raw)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries = -1, 1
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
		o.MaintNotificationsConfig = noNotifications()
		o.ClusterStateReloadInterval = clusterReload
		byOwnName(o.TLSConfig)
		return redis.NewClusterClient(o), nil
	default:
		o, err := redis.ParseURL(raw)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries = -1, 1
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
		o.MaintNotificationsConfig = noNotifications()
		return redis.NewClient(o), nil
	}
}

// clusterReload is how old what is known of a Cluster may be. A node that is gone cannot say who has its slots now,
// and the library would ask nobody else for a minute.
const clusterReload = time.Second

// noNotifications keeps the client from asking for what only managed Redis has.
func noNotifications() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// byOwnName has each of several hosts show a certificate for its own name; the client library holds all of
// them to the name of the first.
func byOwnName(config *tls.Config) {
	if config != nil {
		config.ServerName = ""
	}
}

func queryOf(raw string) url.Values {
	_, query, _ := strings.Cut(raw, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil // the client library will say what is wrong
	}
	return values
}

// silent drops what the client library logs by itself: every failed dial, on stderr. That Redis is away is said
// once, by whoever renews the lease.
type silent struct{}

// Printf drops a line.
func (silent) Printf(context.Context, string, ...any) {}
