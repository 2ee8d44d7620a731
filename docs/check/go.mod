module github.com/seed3447c163/bloom/docs/check

go 1.26.0

require (
	github.com/prometheus/client_golang v1.25.0
	github.com/redis/go-redis/v9 v9.19.0
	github.com/seed3447c163/bloom v0.0.0
	github.com/seed3447c163/bloom/prombloom v0.0.0
	github.com/seed3447c163/bloom/redisfilter v0.0.0
	github.com/yuin/goldmark v1.8.7
	golang.org/x/tools v0.52.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/twmb/murmur3 v1.2.2 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/seed3447c163/bloom => ../../
	github.com/seed3447c163/bloom/prombloom => ../../prombloom
	github.com/seed3447c163/bloom/redisfilter => ../../redisfilter
)
