package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"muster/internal/dsn"
)

// CheckURL reports whether go-redis takes a URL, and why not, without showing any part of the URL.
func CheckURL(raw string) error {
	return dsn.Check(raw, func() error { _, err := parseURL(raw); return err })
}

// parseURL reads a URL as go-redis does: one host (*redis.Options); several, `?addr=host:port` for each further one,
// are a Cluster (*redis.ClusterOptions), or with `?master_name=` the Sentinels of a master (*redis.FailoverOptions).
// It refuses besides what go-redis ignores, or fails of later. The error may show parts of the URL.
func parseURL(raw string) (options any, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, err
	}
	database := 0
	switch {
	case query.Has("master_name"):
		var o *redis.FailoverOptions
		if o, err = redis.ParseFailoverURL(raw); err == nil {
			if o.RouteByLatency || o.RouteRandomly || o.ReplicaOnly || o.UseDisconnectedReplicas {
				return nil, errors.New("has an option that reads from replicas; all is read from the primary")
			}
			options, database = o, o.DB
		}
	case query.Has("addr"):
		if strings.Trim(u.Path, "/") != "" {
			return nil, errors.New("has a path, but a Cluster has one database only")
		}
		options, err = redis.ParseClusterURL(raw)
	default:
		var o *redis.Options
		if o, err = redis.ParseURL(raw); err == nil {
			options, database = o, o.DB
		}
	}
	if err != nil {
		if text, ok := strings.CutPrefix(err.Error(), "redis: "); ok {
			err = errors.New(text)
		}
		return nil, err
	}
	return options, checkIgnored(u, query, database)
}

// checkIgnored refuses what go-redis takes without a word and what then cannot work.
func checkIgnored(u *url.URL, query url.Values, database int) error {
	switch {
	case u.Opaque != "":
		return errors.New("has no // behind the scheme")
	case u.Scheme == "unix" && u.Host != "":
		return errors.New("has a host; a socket is written with three slashes, unix:///path")
	case database < 0:
		return errors.New("invalid database number")
	}
	for _, address := range append(query["addr"], u.Host) {
		_, port, _ := net.SplitHostPort(address)
		if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
			return errors.New("invalid port, 1 to 65535 are possible")
		}
	}
	return nil
}

// newClient builds the client for a URL. Calls are not retried by it: a script whose reply was lost is sent again only
// by those who know that it may be. connected is called for each connection that was set up. The error shows no part of
// the URL.
func newClient(raw string, timeout time.Duration, connected func(context.Context, *redis.Conn) error) (redis.UniversalClient, error) {
	redis.SetLogger(silent{})
	var options any
	err := dsn.Check(raw, func() (err error) { options, err = parseURL(raw); return err })
	if err != nil {
		return nil, err
	}
	switch o := options.(type) {
	case *redis.FailoverOptions:
		o.MaxRetries, o.DialerRetries, o.OnConnect = -1, 1, connected
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
		byOwnName(o.TLSConfig)
		return redis.NewFailoverClient(o), nil
	case *redis.ClusterOptions:
		o.MaxRetries, o.DialerRetries, o.OnConnect = -1, 1, connected
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
		o.MaintNotificationsConfig = noNotifications()
		o.ClusterStateReloadInterval = clusterReload
		o.NewClient = newNodeClient(o.Addrs[0])
		byOwnName(o.TLSConfig)
		return redis.NewClusterClient(o), nil
	case *redis.Options:
		return newSingleClient(o, timeout, connected), nil
	default:
		return nil, fmt.Errorf("options of type %T", o)
	}
}

func newSingleClient(o *redis.Options, timeout time.Duration, connected func(context.Context, *redis.Conn) error) *redis.Client {
	o.MaxRetries, o.DialerRetries, o.OnConnect = -1, 1, connected
	o.ContextTimeoutEnabled, o.DisableIdentity = true, true
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	o.MaintNotificationsConfig = noNotifications()
	return redis.NewClient(o)
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

// silent drops what the client library logs by itself: every failed dial, on stderr. That Redis is away is said
// once, by whoever renews the lease.
type silent struct{}

// Printf drops a line.
func (silent) Printf(context.Context, string, ...any) {}
