package allocation

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gameServer is one of Agones' game servers.
type gameServer struct {
	name, namespace, state string
	labels, annotations    map[string]string
	ports                  []agonesPort
}

// agonesStandIn speaks the REST gateway of agones-allocator: requests and replies are the JSON of its
// allocation.proto, and refusals those of grpc-gateway, with the status that belongs to the gRPC code. Like
// Agones it tries the selectors in their order, each over all game servers of the namespace.
type agonesStandIn struct {
	*receiver

	mu sync.Mutex
	// guarded by mu
	servers     []*gameServer
	contentions int  // how many of the next requests meet too many others
	emptyIsOK   bool // as with agones-allocator's --http-unallocated-status-code=200
	lost        int  // how many of the next replies are not sent
}

func startAgones(t *testing.T, servers ...*gameServer) *agonesStandIn {
	t.Helper()
	a := &agonesStandIn{servers: servers}
	a.receiver = receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		body := a.requests()[n].body
		status, answer := a.allocate(t, r, body)
		if answer == "" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
	return a
}

func ready(name string, labels map[string]string) *gameServer {
	return &gameServer{
		name: name, namespace: "games", state: "READY", labels: labels, annotations: map[string]string{},
		ports: []agonesPort{{Name: "default", Port: 7463}},
	}
}

// labelValue is what Kubernetes takes as a label's value.
var labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)

func (a *agonesStandIn) allocate(t *testing.T, r *http.Request, body string) (status int, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != "/gameserverallocation" {
		return http.StatusNotFound, `{"code":5,"message":"Not Found","details":[]}`
	}
	var request agonesRequest
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		t.Errorf("request: %v\n%s", err, body)
		return http.StatusBadRequest, `{"code":3,"message":"bad request","details":[]}`
	}
	for name, value := range request.Metadata.Labels {
		if !labelValue.MatchString(value) {
			t.Errorf("label %s=%q", name, value)
		}
	}
	if a.contentions > 0 {
		a.contentions--
		return http.StatusConflict, `{"code":10,"message":"too many concurrent requests have overwhelmed the system","details":[]}`
	}
	found := a.find(request)
	switch {
	case found == nil && a.emptyIsOK:
		return http.StatusOK, `{}`
	case found == nil:
		return http.StatusTooManyRequests, `{"code":8,"message":"there is no available GameServer to allocate","details":[]}`
	}
	found.state = "ALLOCATED"
	maps.Copy(found.labels, request.Metadata.Labels)
	maps.Copy(found.annotations, request.Metadata.Annotations)
	if a.lost > 0 {
		a.lost--
		return 0, ""
	}
	ports, err := json.Marshal(found.ports)
	if err != nil {
		t.Error(err)
	}
	return http.StatusOK, fmt.Sprintf(`{"gameServerName":%q,"ports":%s,"address":"192.0.2.9","addresses":[{"type":"ExternalIP",`+
		`"address":"192.0.2.9"}],"nodeName":"node-1","source":"local","metadata":{"labels":{},"annotations":{}},"counters":{},"lists":{}}`,
		found.name, ports)
}

// find is the first game server that the first selector with any matches.
func (a *agonesStandIn) find(request agonesRequest) *gameServer {
	for _, selector := range request.GameServerSelectors {
		for _, s := range a.servers {
			fits := s.namespace == request.Namespace && s.state == selector.GameServerState
			for name, value := range selector.MatchLabels {
				fits = fits && s.labels[name] == value
			}
			if fits {
				return s
			}
		}
	}
	return nil
}

func (a *agonesStandIn) states() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	states := map[string]string{}
	for _, s := range a.servers {
		states[s.name] = s.state
	}
	return states
}

// settings are those of a world that plays on the fleet shooter.
func (a *agonesStandIn) settings() Settings {
	return Settings{
		Agones:  &Agones{URL: a.url, Namespace: "games", Selector: map[string]string{"agones.dev/fleet": "shooter"}},
		Timeout: 5 * time.Second, Attempts: 3,
	}
}

func shooter() map[string]string { return map[string]string{"agones.dev/fleet": "shooter"} }

func TestAgonesAllocatesAServerOfTheSelector(t *testing.T) {
	t.Parallel()
	racer, elsewhere := ready("racer-1", map[string]string{"agones.dev/fleet": "racer"}), ready("shooter-0", shooter())
	elsewhere.namespace = "other"
	mine := ready("shooter-1", shooter())
	agones := startAgones(t, racer, elsewhere, mine)
	fake := newFakeStore(aMatch("0195d3a4-7f00-7abc-8def-0123456789ab"))
	s := agones.settings()
	s.Agones.URL += "/" // is the same address
	_, seen := start(t, Options{Store: fake, Settings: always(s)})
	m := fake.settled(t, "0195d3a4-7f00-7abc-8def-0123456789ab")
	const endpoint = `{"name":"shooter-1","address":"192.0.2.9","port":7463,"ports":[{"name":"default","port":7463}]}`
	if m.state != complete || m.endpoint != endpoint {
		t.Errorf("match = %+v", m)
	}
	if d := cmp.Diff(map[string]string{"racer-1": "READY", "shooter-0": "READY", "shooter-1": "ALLOCATED"}, agones.states()); d != "" {
		t.Errorf("servers (-want +got)\n%s", d)
	}
	if got := mine.labels["muster/match"]; got != string(m.match.ID) {
		t.Errorf("label = %s", got)
	}
	const told = `{"match_id":"0195d3a4-7f00-7abc-8def-0123456789ab","world":"w","realm":"main","created_at":1795970000000,` +
		`"attempt":1,"players":[{"id":"ann"},{"id":"bob"}],"rooms":{"chat":"r2","game":"r1"}}`
	if d := cmp.Diff(told, mine.annotations["muster/match"]); d != "" {
		t.Errorf("annotation (-want +got)\n%s", d)
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{Allocated}) {
		t.Errorf("outcomes = %v", got)
	}
}

// The instance dies between the answer and the store's hearing of it, or the answer is lost: the next attempt
// finds the server that was allocated, and no second one is spent.
func TestAgonesIsNotAskedForASecondServer(t *testing.T) {
	t.Parallel()
	agones := startAgones(t, ready("shooter-1", shooter()), ready("shooter-2", shooter()))
	agones.lost = 2
	fake := newFakeStore(aMatch("m1"))
	start(t, Options{Store: fake, Settings: always(agones.settings())})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 3 || !strings.Contains(m.endpoint, "shooter-1") {
		t.Errorf("match = %+v", m)
	}
	if d := cmp.Diff(map[string]string{"shooter-1": "ALLOCATED", "shooter-2": "READY"}, agones.states()); d != "" {
		t.Errorf("servers (-want +got)\n%s", d)
	}
}

// A match never gets the server of another match, though that one is allocated, too.
func TestAgonesGivesEachMatchItsOwnServer(t *testing.T) {
	t.Parallel()
	agones := startAgones(t, ready("shooter-1", shooter()), ready("shooter-2", shooter()))
	fake := newFakeStore(aMatch("m1"), aMatch("m2"), aMatch("m3"))
	start(t, Options{Store: fake, Settings: always(agones.settings())})
	states, endpoints := map[string]int{}, map[string]bool{}
	for _, id := range fake.order {
		m := fake.settled(t, id)
		states[m.state]++
		endpoints[m.endpoint] = true
	}
	if states[complete] != 2 || states[cancelled] != 1 || len(endpoints) != 3 {
		t.Errorf("states %v, endpoints %v", states, endpoints)
	}
}

func TestAgonesIsAskedAgainWhileThereIsNoServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		empty   bool
		outcome Outcome
	}{
		"UnAllocated as 429": {false, Failed},
		"UnAllocated as 200": {true, BadReply},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agones := startAgones(t)
			agones.emptyIsOK = c.empty
			fake := newFakeStore(aMatch("m1"))
			_, seen := start(t, Options{Store: fake, Settings: always(agones.settings())})
			fake.until(t, "two attempts failed", func() bool { return len(fake.matches["m1"].pauses) == 2 })
			agones.mu.Lock()
			agones.servers = append(agones.servers, ready("shooter-1", shooter()))
			agones.mu.Unlock()
			if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 3 {
				t.Errorf("match = %+v", m)
			}
			if got := seen.all(); !slices.Equal(got, []Outcome{c.outcome, c.outcome, Allocated}) {
				t.Errorf("outcomes = %v", got)
			}
		})
	}
}

func TestAgonesIsAskedAgainAfterContention(t *testing.T) {
	t.Parallel()
	agones := startAgones(t, ready("shooter-1", shooter()))
	agones.contentions = 2
	fake := newFakeStore(aMatch("m1"))
	start(t, Options{Store: fake, Settings: always(agones.settings())})
	if m := fake.settled(t, "m1"); m.state != complete || m.attempt != 3 {
		t.Errorf("match = %+v", m)
	}
}

func TestAgonesRepliesThatAreNoServer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `"x"`, `{"gameServerName":"a"}`, `{"address":"192.0.2.9"}`,
		`{"gameServerName":"a","address":7}`, `{"gameServerName":"a","address":"b","ports":[{"port":"x"}]}`,
		`{"gameServerName":"a","gameServerName":"b","address":"c"}`, `{"gameServerName":"a","address":"\ud800"}`,
		`{"gameServerName":"a","address":"` + strings.Repeat("x", MaxEndpointBytes) + `"}`,
	} {
		if endpoint, err := agonesEndpoint([]byte(body), "m1"); err == nil {
			t.Errorf("%.40s: %s", body, endpoint)
		}
	}
	const noPorts = `{"gameServerName":"a","address":"b"}`
	if endpoint, err := agonesEndpoint([]byte(noPorts), "m1"); err != nil || string(endpoint) != `{"name":"a","address":"b"}` {
		t.Errorf("%s, %v", endpoint, err)
	}
}
