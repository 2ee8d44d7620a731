module github.com/seed3447c163/bloom

go 1.26

require (
	github.com/dchest/siphash v1.2.3
	github.com/stretchr/testify v1.12.1
	github.com/twmb/murmur3 v1.2.2
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
