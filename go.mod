module github.com/seed3447c163/bloom

go 1.26.0

require (
	github.com/dchest/siphash v1.2.3
	github.com/stretchr/testify v1.12.1
	github.com/twmb/murmur3 v1.2.2
	golang.org/x/sys v0.49.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
