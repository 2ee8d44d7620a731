module github.com/seed3447c163/bloom/docs/calculator/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/seed3447c163/bloom v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/twmb/murmur3 v1.2.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed3447c163/bloom => ../../../
