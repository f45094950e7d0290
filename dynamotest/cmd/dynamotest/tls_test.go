package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/schema"
)

// With -tls the SDK's own client, which signs its requests, reaches the server by
// each name if it trusts the certificate that was printed, and not otherwise.
func TestTLS(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cert.pem")
	ctx, stop := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	status := make(chan int, 1)
	var log bytes.Buffer
	go func() {
		status <- run(ctx, []string{"-addr", "localhost:0", "-tls", "-cert", file}, printed, &log)
		_ = printed.Close()
	}()
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "dynamotest: listening on https://")
	if !ok {
		t.Fatalf("the first line is %q", line)
	}
	_, port, err := net.SplitHostPort(url)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, len(written))
	if _, err := io.ReadFull(in, text); err != nil || !bytes.Equal(text, written) {
		t.Fatalf("%v: printed\n%s\nwritten\n%s", err, text, written)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		t.Fatalf("not a certificate: %s", text)
	}
	for _, host := range []string{"localhost", "127.0.0.1"} {
		name := "at-" + host
		err := schema.Create(t.Context(), signing("https://"+host+":"+port, trusted), schema.Table{Name: name, Key: schema.Key{Partition: schema.String("pk")}})
		if err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	var unknown x509.UnknownAuthorityError
	if _, err := signing("https://localhost:"+port, x509.NewCertPool()).ListTables(t.Context(), nil); !errors.As(err, &unknown) {
		t.Errorf("without trust: %v", err)
	}
	stop()
	if got := <-status; got != 0 {
		t.Errorf("status %d: %s", got, &log)
	}
}

// signing returns a client that signs its requests and trusts an authority.
func signing(endpoint string, trusted *x509.CertPool) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "any", SecretAccessKey: "any"}, nil
		}),
		HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}},
	})
}

// The certificate is for the loopback interface and the host of the address.
func TestNamesOfTheCertificate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for addr, names := range map[string][]string{
		"127.0.0.1:8000": nil, ":8000": nil, "0.0.0.0:8000": nil, "10.1.2.3:8000": {"10.1.2.3"}, "db.test:8000": {"db.test"}, "[::1]:0": nil,
	} {
		own, err := newCertificate(addr, now)
		if err != nil {
			t.Fatal(err)
		}
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(own.pem)
		leaf, err := x509.ParseCertificate(own.config.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(names, "localhost", "127.0.0.1", "::1") {
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: trusted, CurrentTime: now.AddDate(0, 11, 0)}); err != nil {
				t.Errorf("%s: %s: %v", addr, name, err)
			}
		}
		if err := leaf.VerifyHostname("example.com"); err == nil {
			t.Errorf("%s: it is for any host", addr)
		}
	}
}
