package server

import (
	"net/http"
	"net/http/pprof"

	"github.com/gin-gonic/gin"

	"github.com/musterhq/muster/protocol"
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

// postReload reads the settings again and says what is wrong with them, if anything.
func (s *Server) postReload(c *gin.Context) {
	if err := s.Reload(); err != nil {
		refuse(c, http.StatusUnprocessableEntity, err.Error())
		return
	}
	c.PureJSON(http.StatusOK, gin.H{"status": "reloaded"})
}
