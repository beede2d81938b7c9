package configs

import _ "embed"

// Sample is the documented settings file: every key with its default.
//
//go:embed muster.yaml
var Sample []byte
