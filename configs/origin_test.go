package configs

import "testing"

func TestOrigins_AsBrowsersSendThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://game.example": true, "http://localhost:3000": true, "http://[::1]:8080": true, "http://my_host": true,
		"null": true, "file://": true, "app://-": true, "capacitor://localhost": true, "chrome-extension://abcdef": true,
		"": false, "*": false, "game.example": false, "https://": false, "https://*.example": false, "https://Game.example": false,
		"https://game.example/": false, "https://game.example:443": false, "http://game.example:80": false, "https://u@game.example": false,
		"https://game.example:": false, "https://game.example:70000": false, "file:///": false, "file:///x": false, "Null": false,
	} {
		if got := isOrigin(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
