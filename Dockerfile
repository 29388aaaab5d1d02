# A static binary on an empty image. The data folder is the volume /data.
#
#	docker build -t moot .
#	docker run --rm -v moot:/data moot run room.yaml --headless
#
# Agents that run as subprocesses need their programs: base an image on one
# that has them and copy /moot from this one.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/moot ./cmd/moot && mkdir -p /out/data /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /out/moot /moot
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/tmp /tmp
COPY LICENSE NOTICE /
USER 65532:65532
ENV HOME=/data MOOT_DATA=/data XDG_CACHE_HOME=/data/cache
VOLUME /data
ENTRYPOINT ["/moot"]
