package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// The headers of a delivery.
const (
	HeaderTimestamp = "Muster-Timestamp" // Unix seconds
	HeaderSignature = "Muster-Signature" // v1= and 64 hexadecimal digits; absent where no secret is set
	HeaderEvent     = "Muster-Event"     // the event's type
	HeaderEventID   = "Muster-Event-Id"
)

// sign signs a body as of a time, so that a receiver can refuse what was recorded long ago and sent again.
func sign(header http.Header, secret, body []byte, now time.Time) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	header.Set(HeaderTimestamp, timestamp)
	if len(secret) == 0 {
		return
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	header.Set(HeaderSignature, "v1="+hex.EncodeToString(mac.Sum(nil)))
}
