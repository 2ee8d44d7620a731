// Package variants measures the filters that grow, forget and remove beside the plain one
// and beside those of BoomFilters, the only Go library that has counterparts of two of
// them:
//
//	cd compare && go test -run xxx -bench . -cpu 1 ./variants
//
// BoomFilters' may be used by one goroutine only, so all run on one. rueidisprob has a
// counting filter too, but keeps it in a Redis server, and is not comparable.
package variants
