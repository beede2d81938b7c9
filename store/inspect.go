package store

import (
	"context"
	"fmt"
	"strings"
)

// oldestRedis is the first version whose scripts may say in line 1 what they need.
const oldestRedis = 7

// Inspect looks whether Redis is set as Muster needs it, and returns in words what is not.
func (s *Store) Inspect(ctx context.Context) ([]string, error) {
	if s.Embedded() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	redis, err := node(ctx, s.rdb, s.opts.Realm)
	if err != nil {
		return nil, s.unavailable("INFO", err)
	}
	info, err := redis.Info(ctx, "server", "memory").Result()
	if err != nil {
		return nil, s.unavailable("INFO", err)
	}
	facts := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		facts[name] = value
	}
	var wrong []string
	if policy := facts["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		wrong = append(wrong, "maxmemory-policy is "+policy+": Redis may throw tickets and matches away; set noeviction")
	}
	var major int
	if _, err := fmt.Sscanf(facts["redis_version"], "%d.", &major); err == nil && major < oldestRedis {
		wrong = append(wrong, fmt.Sprintf("Redis is %s: %d.0 or later is needed", facts["redis_version"], oldestRedis))
	}
	return wrong, nil
}
