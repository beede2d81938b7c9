package store

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// access is what is known of whether Redis lets this instance do all that it needs. It is checked before the first
// call, and again at the next renewal after a connection was opened or a call failed: users change while a server runs.
type access struct {
	doubts, checked atomic.Uint64 // the check counts as long as no doubt came after it
	denied          atomic.Pointer[SetupError]
}

// doubt has the access checked again at the next renewal.
func (a *access) doubt() { a.doubts.Add(1) }

// connected is doubt for the client library.
func (a *access) connected(context.Context, *redis.Conn) error {
	a.doubt()
	return nil
}

// refusal returns the error of a call while the last check found something missing, and nil otherwise.
func (a *access) refusal() error {
	if denied := a.denied.Load(); denied != nil {
		return denied
	}
	return nil
}

// permit returns the error of a call while something is missing, or not yet checked. A script that lacks a right fails after
// its first writes, so that none may begin.
func (s *Store) permit(ctx context.Context) error {
	if s.access.doubts.Load() > 0 && s.access.checked.Load() == 0 {
		return s.ensureAccess(ctx)
	}
	return s.access.refusal()
}

// ensureAccess checks what Redis lets this instance do, if that is in doubt.
func (s *Store) ensureAccess(ctx context.Context) error {
	doubts := s.access.doubts.Load()
	if s.access.checked.Load() == doubts {
		return s.access.refusal()
	}
	missing, err := s.missingRights(ctx)
	if err != nil {
		return s.unavailable("access check", err)
	}
	if missing != "" {
		denied := &SetupError{Sentence: missing, cause: ErrUnavailable}
		s.access.denied.Store(denied)
		return denied
	}
	s.access.denied.Store(nil)
	s.access.checked.Store(doubts)
	return nil
}

// rights asks Redis which commands the user may not run; each argument is one, with words that it could have. Redis itself
// checks the keys that are handed over. It needs no right but EVAL, unlike ACL DRYRUN. A Redis that cannot say, or does
// not know a command, lacks nothing.
const rights = `
local missing = {}
for i = 1, redis.acl_check_cmd and #ARGV or 0 do
  local words = {}
  for word in string.gmatch(ARGV[i], '%S+') do
    words[#words + 1] = word
  end
  local known, may = pcall(redis.acl_check_cmd, unpack(words))
  if known and not may then
    missing[#missing + 1] = i
  end
end
return missing`

// sampleKeys are keys of several kinds behind the realm's prefix: a user may have the right to some of them only.
var sampleKeys = []string{"meta", "st", "sd", "sg", "w", "pl", "pr:p", "q:w:1", "rc:w,p,q"}

// commands are all that Muster sends to Redis, those of scripts first. KEY and CHANNEL are the realm's.
const commands = `eval s 1 KEY
evalsha s 1 KEY
del KEY
exists KEY
get KEY
hdel KEY f
hexists KEY f
hget KEY f
hincrby KEY f 1
hkeys KEY
hmget KEY f
hset KEY f v
info replication
lpush KEY v
lrange KEY 0 1
ltrim KEY 0 1
mget KEY
pexpire KEY 1
publish CHANNEL m
sadd KEY v
set KEY v
sismember KEY v
srandmember KEY 1
srem KEY v
time
xadd KEY * f v
zadd KEY 1 v
zcard KEY
zcount KEY 0 1
zmscore KEY v
zrange KEY 0 1
zrangebyscore KEY 0 1
zrank KEY v
zrem KEY v
zscore KEY v
exec
hgetall KEY
multi
ping
subscribe CHANNEL
unsubscribe CHANNEL
xack KEY g 0-1
xautoclaim KEY g c 0 0-0
xclaim KEY g c 0 0-1
xdel KEY 0-1
xgroup|create KEY g 0
xgroup|delconsumer KEY g c
xgroup|destroy KEY g
xinfo|consumers KEY g
xinfo|groups KEY
xlen KEY
xpending KEY g
xrange KEY - +
xreadgroup GROUP g c STREAMS KEY >
xtrim KEY MINID 0`

// clusterCommands are needed of a Cluster besides.
const clusterCommands = `
asking
cluster|slots`

// neededCommands are all that the user must be allowed to run, a line each.
func (s *Store) neededCommands() []string {
	all := commands
	if _, ok := s.rdb.(*redis.ClusterClient); ok {
		all += clusterCommands
	}
	return strings.Split(all, "\n")
}

// missingRights returns in a sentence what the user may not do, with the remedy, or "".
func (s *Store) missingRights(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	prefix := keyPrefix(s.opts.Realm)
	var keys []string
	for _, key := range sampleKeys {
		keys = append(keys, prefix+key)
	}
	// A channel of some other instance: the right to the own one is not enough. Its name shows in Redis' MONITOR which instance asks.
	another := channelOf(s.opts.Realm, s.opts.Instance+"-another")
	sample := strings.NewReplacer("KEY", keys[0], "CHANNEL", another, "|", " ")
	needed := s.neededCommands()
	args := make([]any, len(needed))
	for i, command := range needed {
		args[i] = sample.Replace(command)
	}
	missing, err := s.rdb.Eval(ctx, rights, keys, args...).Int64Slice()
	if err != nil || len(missing) == 0 {
		return "", err
	}
	var run, add []string
	channels := ""
	for _, i := range missing {
		name, words, _ := strings.Cut(needed[i-1], " ")
		run, add = append(run, strings.ToUpper(strings.ReplaceAll(name, "|", " "))), append(add, "+"+name)
		if strings.HasPrefix(words, "CHANNEL") { // Redis does not say whether it refuses the command or the channel
			channels = prefix + "*"
		}
	}
	do := "run " + strings.Join(run, ", ")
	if channels != "" {
		do, add = do+" with channels "+channels, append(add, "&"+channels)
	}
	return s.mayNot(do, strings.Join(add, " ")), nil
}

// mayNot says what the user of the connections may not do, and what to add to its rights.
func (s *Store) mayNot(do, add string) string {
	return fmt.Sprintf("redis user %q may not %s: add %s", s.connection.user, do, add)
}
