FROM golang:1.26 AS build
WORKDIR /src
# Modules first: they change less often than the code.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN make image-build OUT=/muster VERSION="$VERSION"

FROM scratch
# For rediss:// and webhooks over TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /muster /muster
USER 65532:65532
# Only this address can be reached from outside of the container. Dev mode is refused on it unless
# MUSTER_AUTH_ALLOW_DEV=true is set as well.
ENV MUSTER_LISTEN=0.0.0.0:8080
EXPOSE 8080
# healthz and not readyz: an orchestrator may kill what is unhealthy, and an instance that waits for
# Redis keeps its sockets. Readiness is for the load balancer to ask.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
	CMD ["/muster", "health", "--url", "http://127.0.0.1:8080/healthz"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/muster"]
