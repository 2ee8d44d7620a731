module github.com/seed3447c163/bloom

// Go 1.24.0 compiles the result of an atomic Or wrongly on amd64.
go 1.24.1

require (
	github.com/dchest/siphash v1.2.3
	github.com/stretchr/testify v1.12.1
	github.com/twmb/murmur3 v1.1.8
	golang.org/x/sys v0.41.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
