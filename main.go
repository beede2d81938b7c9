// Muster is a WebSocket matchmaking server: players ask for a match in a world, and all players of a match are sent the rooms
// to go to.
package main

import (
	"os"

	"muster/internal/cli"
)

func main() { os.Exit(cli.Main()) }
