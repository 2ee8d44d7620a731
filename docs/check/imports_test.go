package check

// What snippets may import must be in go.mod.
import (
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/seed3447c163/bloom"
	_ "github.com/seed3447c163/bloom/cascade"
	_ "github.com/seed3447c163/bloom/counting"
	_ "github.com/seed3447c163/bloom/guard"
	_ "github.com/seed3447c163/bloom/interop/bitsandblooms"
	_ "github.com/seed3447c163/bloom/interop/guava"
	_ "github.com/seed3447c163/bloom/interop/rebloom"
	_ "github.com/seed3447c163/bloom/persist"
	_ "github.com/seed3447c163/bloom/prombloom"
	_ "github.com/seed3447c163/bloom/redisfilter"
	_ "github.com/seed3447c163/bloom/redisfilter/bitmap"
	_ "github.com/seed3447c163/bloom/redisfilter/module"
	_ "github.com/seed3447c163/bloom/rotating"
	_ "github.com/seed3447c163/bloom/scalable"
)
