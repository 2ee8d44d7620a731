package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
)

const secretsHelp = `Anyone who knows a filter's hash can make keys that collide, and then the
filter answers "probably in" for keys of their choice. Give a filter for keys
from strangers a secret of 16 bytes:

  head -c 16 /dev/urandom > secret
  bloom build --secret-file secret -n 1M -p 0.1% -o seen.bloom urls.txt
  bloom check --secret-file secret seen.bloom candidates.txt

The file holds 16 bytes or 32 hexadecimal digits. Without --secret-file, the
variable BLOOM_SECRET gives the digits. No flag takes the secret itself: other
users can read a program's arguments. A filter does not contain its secret, and
is not read without it or with a wrong one.`

// secret returns the option for the secret in the file of --secret-file. Without this flag, it uses $BLOOM_SECRET if
// needed is true: for a new filter, or one that has a secret. It returns no option if there is no secret.
func (o *command) secret(needed bool) ([]bloom.Option, error) {
	source, text := "$"+secretVariable, os.Getenv(secretVariable)
	if o.secretFile != "" {
		raw, err := lines.Await(o.ctx, func() ([]byte, error) { return os.ReadFile(o.secretFile) })
		if err != nil {
			return nil, err
		}
		source, text = o.secretFile, string(raw)
	} else if !needed || text == "" {
		return nil, nil
	}
	key := []byte(text)
	if len(key) != 16 || o.secretFile == "" {
		var err error
		if key, err = hex.DecodeString(strings.TrimSpace(text)); err != nil || len(key) != 16 {
			return nil, fmt.Errorf("%s: secret of %d bytes, want 32 hexadecimal digits, or in a file 16 bytes", source, len(text))
		}
	}
	if [16]byte(key) == [16]byte{} {
		return nil, fmt.Errorf("%s: the secret is all zeros, want 16 random bytes", source)
	}
	return []bloom.Option{bloom.WithSecret([16]byte(key))}, nil
}
