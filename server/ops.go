package server

import (
	"net/http"
	"net/http/pprof"

	"github.com/gin-gonic/gin"

	"muster/protocol"
)

// opsHandler is what operators reach, on a listener of its own. A page from elsewhere that is open in an
// operator's browser can change nothing here.
func (s *Server) opsHandler() http.Handler {
	engine := newEngine(s.log, nil, s.config.Limits.MessageBytes)
	getAndHead(engine, "/metrics", gin.WrapH(s.metrics.handler()))
	getAndHead(engine, "/healthz", getHealth)
	getAndHead(engine, "/readyz", s.getReady)
	engine.POST("/reload", s.postReload)
	engine.GET("/debug/pprof/*name", func(c *gin.Context) {
		switch c.Param("name") {
		case "/cmdline":
			pprof.Cmdline(c.Writer, c.Request)
		case "/profile":
			pprof.Profile(c.Writer, c.Request)
		case "/symbol":
			pprof.Symbol(c.Writer, c.Request)
		case "/trace":
			pprof.Trace(c.Writer, c.Request)
		default:
			pprof.Index(c.Writer, c.Request)
		}
	})
	getAndHead(engine, "/", func(c *gin.Context) {
		c.String(http.StatusOK, "muster %s\n/metrics\n/debug/pprof/\n/healthz\n/readyz\nPOST /reload\n", s.opts.Version)
	})
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblemAs(w, http.StatusForbidden, protocol.Errorf(protocol.CodeUnauthorized, "not from a page of another origin"))
	}))
	return protection.Handler(engine)
}

// reloaded is the answer to a reload.
type reloaded struct {
	Status string `json:"status"`
	// Restart names the keys whose values hold after a restart only.
	Restart []string `json:"restart"`
}

// postReload reads the settings again and says what is wrong with them, or which changes need a restart.
func (s *Server) postReload(c *gin.Context) {
	restart, err := s.Reload()
	if err != nil {
		refuse(c, http.StatusUnprocessableEntity, err.Error())
		return
	}
	c.PureJSON(http.StatusOK, reloaded{Status: "reloaded", Restart: append([]string{}, restart...)})
}
