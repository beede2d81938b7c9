package allocation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"muster/internal/ident"
)

// The headers of a webhook's request; docs/allocation.md says how to verify the signature.
const (
	headerIdempotencyKey = "Idempotency-Key"
	headerTimestamp      = "Muster-Timestamp"
	headerSignature      = "Muster-Signature"
	headerUserAgent      = "User-Agent"
)

// webhookCall is the request for a match. Its Idempotency-Key has a second effect: net/http sends a request that
// has one again where a kept connection turns out to be closed, which a receiver that keeps its promise
// does not notice.
func webhookCall(s Settings, told brief, now time.Time) (call, error) {
	body, err := json.Marshal(told)
	if err != nil {
		return call{}, err
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	header := http.Header{}
	header.Set(headerIdempotencyKey, string(told.MatchID))
	header.Set(headerTimestamp, timestamp)
	if s.Secret != "" {
		header.Set(headerSignature, sign(s.Secret, timestamp, body))
	}
	return call{url: s.Webhook, body: body, header: header}, nil
}

// sign is the value of the signature's header. The timestamp is signed with the body, so that a receiver can refuse
// a request that was recorded and is sent again later.
func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// webhookEndpoint is the endpoint in a webhook's reply for a match. A reply may name its match, and is then taken for
// no other: a receiver that answers twice on a kept connection has the second answer read as that of the next
// request, which HTTP/1.1 cannot tell.
func webhookEndpoint(body []byte, match ident.Match) (json.RawMessage, error) {
	var reply map[string]jsontext.Value
	if err := jsonv2.Unmarshal(body, &reply); err != nil {
		return nil, badReply("reply is no JSON object: %w", err)
	}
	if named, ok := reply["match_id"]; ok && string(named) != strconv.Quote(string(match)) {
		return nil, badReply("reply is for match %.80s", named)
	}
	return checkEndpoint(reply["endpoint"])
}
