package redistest

// Option changes how Start starts a server.
type Option func(*Server)

// AppendOnly makes the server write each command to its append-only file, so that its data outlives
// Stop, Kill and Restart.
func AppendOnly() Option {
	return Args("--appendonly", "yes", "--appendfsync", "always")
}

// Args adds arguments to the command line of redis-server, as in
// Args("--maxmemory", "10mb"). They win over the package's own.
func Args(args ...string) Option {
	return func(s *Server) { s.args = append(s.args, args...) }
}

// ClusterNode makes the server a node of a Cluster, with a port for other nodes that was free.
func ClusterNode() Option {
	return func(s *Server) { s.node = true }
}
