package tracing

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/folkmoot/moot/problem"
)

// Defaults of the specification of the OTLP exporter, and the first wait before an upload
// is repeated.
const (
	defaultEndpoint = "http://localhost:4318"
	tracesPath      = "/v1/traces"
	defaultTimeout  = 10 * time.Second
	firstWait       = time.Second
)

// A collector is the client of a collector of OpenTelemetry, by OTLP over HTTP with
// protocol buffers. It implements [otlptrace.Client]. The client of OpenTelemetry itself
// links gRPC.
type collector struct {
	url    string
	header http.Header
	web    *http.Client
}

// env returns the first variable that is set, and its name.
func env(names ...string) (value, name string) {
	i := slices.IndexFunc(names, func(n string) bool { return os.Getenv(n) != "" })
	if i < 0 {
		return "", names[0]
	}
	return os.Getenv(names[i]), names[i]
}

// configured reports whether the environment names a collector of a protocol that this
// program speaks.
func configured() (bool, error) {
	exporter, name := env("OTEL_TRACES_EXPORTER")
	endpoint, _ := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	off, _ := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED"))
	switch {
	case off, exporter == "none", exporter == "" && endpoint == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, wrongValue(name, "allowed are otlp and none", nil)
	}
	if p, name := env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		return false, wrongValue(name, "use http/protobuf, the default; spans are not sent by another protocol", nil)
	}
	return true, nil
}

func wrongValue(name, fix string, err error) error {
	return &problem.Error{Code: "CONFIG-VALUE", What: name + " cannot be used", Where: "env " + name, Fix: fix, Err: err}
}

// newCollector makes the client that the environment describes.
func newCollector() (*collector, error) {
	c := &collector{header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	endpoint, name := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, wrongValue(name, "write it as http://HOST:PORT", nil) // the cause may quote a password
	}
	if name != "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" || os.Getenv(name) == "" {
		u = u.JoinPath(tracesPath)
	}
	c.url = u.String()
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	timeout, err := timeoutOf()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = trusted(); err != nil {
		return nil, err
	}
	c.web = &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the header is for this collector only
	}}
	return c, nil
}

// readHeader reads the lists of headers; their values are encoded as in a URL.
func (c *collector) readHeader() error {
	list, name := env("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		v, err := url.PathUnescape(strings.TrimSpace(v))
		if k = strings.TrimSpace(k); !ok || k == "" || err != nil {
			return wrongValue(name, "write it as NAME=VALUE,NAME=VALUE", nil)
		}
		c.header.Set(k, v)
	}
	return nil
}

func timeoutOf() (time.Duration, error) {
	v, name := env("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
	if v == "" {
		return defaultTimeout, nil
	}
	ms, err := strconv.Atoi(v)
	if err != nil || ms <= 0 {
		return 0, wrongValue(name, "write milliseconds, such as 10000", err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// trusted returns the certificates that are trusted; nil is those of the system.
func trusted() (*tls.Config, error) {
	file, name := env("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE")
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		return nil, wrongValue(name, "name a file with certificates in PEM", err)
	}
	return &tls.Config{RootCAs: roots}, nil
}

// Start implements [otlptrace.Client].
func (c *collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *collector) Stop(context.Context) error {
	c.web.CloseIdleConnections()
	return nil
}

// errBusy says that the collector may take the spans later.
var errBusy = errors.New("the collector cannot take spans now")

// UploadTraces implements [otlptrace.Client]. It tries again until ctx ends while the
// collector is busy or does not answer.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // has the wire format of the request
	if err != nil {
		return err
	}
	for wait := firstWait; ; wait *= 2 {
		err := c.post(ctx, body)
		if err == nil || !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func (c *collector) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.header.Clone()
	resp, err := c.web.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errBusy, errors.Unwrap(err)) // without the URL, which may have a password
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: %s", errBusy, resp.Status)
	}
	if resp.StatusCode/100 != 2 {
		return errors.New("the collector answers " + resp.Status)
	}
	return nil
}
