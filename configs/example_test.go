package configs_test

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"muster/configs"
)

func ExampleLoad() {
	flags := pflag.NewFlagSet("muster", pflag.ContinueOnError)
	configs.AddFlags(flags)
	if err := flags.Parse([]string{"--realm", "europe"}); err != nil {
		fmt.Println(err)
		return
	}

	c, err := configs.Load(configs.Options{Environ: []string{"MUSTER_PRESENCE_TTL=40s"}, Flags: flags})
	fmt.Println(c.Realm, c.Presence.TTL, len(c.Worlds), err)

	_, err = configs.Load(configs.Options{Environ: []string{"MUSTER_PRESENCE_TTL=40", "MUSTER_REALM=a b"}, Flags: flags})
	var problems configs.Problems
	fmt.Println(errors.As(err, &problems), len(problems))
	fmt.Println(err)
	// Output:
	// europe 40s 4 <nil>
	// true 2
	// MUSTER_PRESENCE_TTL: presence.ttl: must be a duration from 20ms to 1h, such as 1500ms or 30s, is "40"
	// MUSTER_REALM: realm: must be an id: 1 to 64 characters out of A-Z a-z 0-9 . _ : @ -, is "a b"
}

func ExampleParseWorld() {
	world, _ := configs.Default().World("voice")
	fmt.Println(world.Settings())
	again, err := configs.ParseWorld(world.Settings())
	fmt.Println(again.Hash() == world.Hash(), err)
	// Output:
	// {"match_hold":"1m0s","mode":"duel","name":"voice","party_max":1,"rooms":["game"],"scan":10,"size":2,"state":"open","tick":"1s","ticket_ttl":"1h0m0s"}
	// true <nil>
}
