module github.com/seed3447c163/bloom/examples

go 1.26.0

require (
	github.com/dustin/go-humanize v1.1.0
	github.com/seed3447c163/bloom v0.0.0
	github.com/stretchr/testify v1.12.1
	github.com/temoto/robotstxt v1.1.2
	golang.org/x/net v0.62.0
	golang.org/x/time v0.16.0
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/twmb/murmur3 v1.2.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/seed3447c163/bloom => ../
