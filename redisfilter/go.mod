module github.com/seed3447c163/bloom/redisfilter

go 1.24.1

require (
	github.com/redis/go-redis/v9 v9.19.0
	github.com/seed3447c163/bloom v0.1.0
	github.com/stretchr/testify v1.12.1
	github.com/twmb/murmur3 v1.1.8
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dchest/siphash v1.2.3 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
