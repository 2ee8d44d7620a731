module github.com/seed3447c163/bloom/proof

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/seed3447c163/bloom v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/twmb/murmur3 v1.2.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed3447c163/bloom => ../
