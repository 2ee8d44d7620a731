// Package variants measures the filters that grow, forget and remove against a plain filter and
// against BoomFilters, which only one goroutine may use:
//
//	cd compare && go test -run xxx -bench Ratios -benchtime 3x -cpu 1 ./variants
package variants
