package twins

var files = []twin{}
