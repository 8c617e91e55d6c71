package netproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"
	"time"
)

const (
	authorityLife = 365 * 24 * time.Hour
	hostLife      = 48 * time.Hour // of one host's certificate; renewed in the second half
	maxHosts      = 1024           // certificates that are remembered
)

// Authority vouches for hosts towards a gateway's own clients. Its key is made at runtime and never
// leaves the process. Safe for concurrent use.
type Authority struct {
	certificateOwn *x509.Certificate
	key            *ecdsa.PrivateKey
	hostKey        *ecdsa.PrivateKey // one for all hosts: who holds it holds the other one too

	mu    sync.Mutex
	hosts map[string]*tls.Certificate
}

// NewAuthority makes one whose certificate people see as name. It lasts a year.
func NewAuthority(name string) (*Authority, error) {
	a := &Authority{hosts: map[string]*tls.Certificate{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make authority %q: %w", name, err)
	}
	if a.hostKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make authority %q: %w", name, err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(authorityLife), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make authority %q: %w", name, err)
	}
	if a.certificateOwn, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("make authority %q: %w", name, err)
	}
	return a, nil
}

// PEM is the certificate that clients must trust.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificateOwn.Raw})
}

func (a *Authority) certificate(host string, now time.Time) (*tls.Certificate, error) {
	if a == nil {
		return nil, fmt.Errorf("make certificate of %q: the gateway has no authority", host)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.hosts[host]; c != nil && now.Before(c.Leaf.NotAfter.Add(-hostLife/2)) {
		return c, nil
	}
	template := &x509.Certificate{
		SerialNumber: serial(), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(hostLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip, ok := isLiteral(host); ok {
		template.IPAddresses = append(template.IPAddresses, ip.AsSlice())
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificateOwn, &a.hostKey.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %q: %w", host, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %q: %w", host, err)
	}
	if len(a.hosts) >= maxHosts {
		clear(a.hosts)
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.hostKey, Leaf: leaf}
	a.hosts[host] = c
	return c, nil
}

func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails: see its documentation
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}
