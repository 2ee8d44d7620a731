module github.com/seed3447c163/bloom/compat/bitsandblooms

go 1.24.1

require (
	github.com/bits-and-blooms/bitset v1.24.2
	github.com/seed3447c163/bloom v0.1.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/twmb/murmur3 v1.1.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
