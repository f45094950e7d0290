package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// A certificate is that of a server which serves HTTPS. It is new at every start,
// and its key is never written.
type certificate struct {
	pem    []byte // without the key, for clients
	config *tls.Config
}

// newCertificate makes a certificate for the loopback interface, and for the host
// of an address to listen on if it is another.
func newCertificate(addr string, now time.Time) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}

	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}

	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "dynamotest"},
		NotBefore:    now.Add(-time.Hour), // the client's clock may be late
		NotAfter:     now.AddDate(1, 0, 0),
		// It signs itself, and clients that trust an authority only take one.
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}

	host, _, _ := net.SplitHostPort(addr)
	switch ip := net.ParseIP(host); {
	case ip != nil && !ip.IsUnspecified():
		template.IPAddresses = append(template.IPAddresses, ip)
	case ip == nil && host != "":
		template.DNSNames = append(template.DNSNames, host)
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}

	return &certificate{
		pem:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		config: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}, nil
}

// secure makes the certificate if the options ask for one, and writes it to the
// file that they name.
func (opt *options) secure() (err error) {
	if !opt.tls {
		return nil
	}
	if opt.own, err = newCertificate(opt.addr, time.Now()); err != nil || opt.cert == "" {
		return err
	}
	return os.WriteFile(opt.cert, opt.own.pem, 0o644)
}
