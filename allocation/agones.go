package allocation

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"muster/internal/ident"
)

// What a game server that was allocated for a match is marked with.
const (
	// labelMatch is a label, so that the server is found by it: by kubectl, and by the next attempt. A world's
	// name is no label, since it may have characters that a label's value may not.
	labelMatch = "muster/match"
	// annotationMatch tells the game server what it is for: what a webhook is told.
	annotationMatch = "muster/match"
)

// The states by which Agones' game servers are selected.
const (
	stateReady     = "READY"
	stateAllocated = "ALLOCATED"
)

// agonesRequest is an AllocationRequest of Agones' allocation.proto in the JSON of its REST gateway.
type agonesRequest struct {
	Namespace           string           `json:"namespace"`
	GameServerSelectors []agonesSelector `json:"gameServerSelectors"`
	Metadata            agonesMetadata   `json:"metadata"`
}

type agonesSelector struct {
	MatchLabels     map[string]string `json:"matchLabels,omitempty"`
	GameServerState string            `json:"gameServerState"`
}

type agonesMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// agonesReply is what is used of an AllocationResponse.
type agonesReply struct {
	GameServerName string       `json:"gameServerName"`
	Address        string       `json:"address"`
	Ports          []agonesPort `json:"ports"`
}

type agonesPort struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// agonesServer is the endpoint of a server of Agones.
type agonesServer struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// Port is the first of Ports, which most servers have no more of.
	Port  int          `json:"port,omitempty"`
	Ports []agonesPort `json:"ports,omitempty"`
}

// agonesCall is the request for a match. Agones has no key by which it would know a request again, but it tries
// selectors in their order: the first finds the server that an earlier attempt was given, by the label that
// it was given with.
func agonesCall(s Settings, told brief, _ time.Time) (call, error) {
	annotation, err := json.Marshal(told)
	if err != nil {
		return call{}, err
	}
	mine := maps.Clone(s.Agones.Selector)
	if mine == nil {
		mine = map[string]string{}
	}
	mine[labelMatch] = string(told.MatchID)
	body, err := json.Marshal(agonesRequest{
		Namespace: s.Agones.Namespace,
		GameServerSelectors: []agonesSelector{
			{MatchLabels: mine, GameServerState: stateAllocated},
			{MatchLabels: s.Agones.Selector, GameServerState: stateReady},
		},
		Metadata: agonesMetadata{
			Labels:      map[string]string{labelMatch: string(told.MatchID)},
			Annotations: map[string]string{annotationMatch: string(annotation)},
		},
	})
	return call{url: strings.TrimRight(s.Agones.URL, "/") + "/gameserverallocation", body: body, header: http.Header{}}, err
}

// agonesEndpoint is the endpoint in a reply of Agones. That there is no server (UnAllocated) and that there was
// too much going on at once (Contention) are statuses of their own, 429 and 409; where the former was set to
// 200 the reply has no server.
func agonesEndpoint(body []byte, _ ident.Match) (json.RawMessage, error) {
	var reply agonesReply
	if err := jsonv2.Unmarshal(body, &reply); err != nil {
		return nil, badReply("reply is no allocation: %w", err)
	}
	if reply.GameServerName == "" || reply.Address == "" {
		return nil, badReply("reply has no game server")
	}
	server := agonesServer{Name: reply.GameServerName, Address: reply.Address, Ports: reply.Ports}
	if len(reply.Ports) > 0 {
		server.Port = reply.Ports[0].Port
	}
	endpoint, err := json.Marshal(server)
	if err != nil {
		return nil, badReply("endpoint: %w", err)
	}
	return checkEndpoint(endpoint)
}
