package redisfilter

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A script looks before it writes, and does all of its work or nothing: a process that ends at any moment leaves nothing
// half done, and a value that has vanished or is another one is not changed. A write that can fail for want of memory
// comes before all other writes. All filters use the same scripts, so a server holds six.
type script struct{ source, sha string }

var (
	//go:embed scripts/open.lua
	openSource string
	//go:embed scripts/claim.lua
	claimSource string
	//go:embed scripts/add.lua
	addSource string
	//go:embed scripts/merge.lua
	mergeSource string
	//go:embed scripts/upload.lua
	uploadSource string
	//go:embed scripts/delete.lua
	deleteSource string

	openScript, claimScript    = newScript(openSource), newScript(claimSource)
	addScript, mergeScript     = newScript(addSource), newScript(mergeSource)
	uploadScript, deleteScript = newScript(uploadSource), newScript(deleteSource)
)

func newScript(source string) *script { return &script{source, redis.NewScript(source).Hash()} }

// A request is a script that runs on a key.
type request struct {
	key    string
	second string // the second key, if there is one
	script *script
	args   []any
	add    bool // it is sent once, and replicas confirm it

	cmd  *redis.Cmd
	call *send.Call
}

// exec runs requests. A server that does not know a script gets its source.
func (f *Filter) exec(ctx context.Context, requests ...*request) {
	for _, verb := range []string{"EVALSHA", "EVAL"} {
		var calls []*send.Call
		for _, r := range requests {
			text := r.script.sha
			if verb == "EVAL" {
				if send.Code(r.call.Err()) != "NOSCRIPT" {
					continue
				}
				text = r.script.source
			}
			args := append(make([]any, 0, 5+len(r.args)), verb, text, 1, r.key)
			if r.second != "" {
				args[2] = 2
				args = append(args, r.second)
			}
			r.cmd = redis.NewCmd(ctx, append(args, r.args...)...)
			r.call = &send.Call{Key: r.key, Cmd: r.cmd, Add: r.add}
			calls = append(calls, r.call)
		}
		f.sender.Send(ctx, calls...)
	}
}

// reply returns the reply to a request, which must be a T.
func reply[T any](r *request) (v T, err error) {
	if err := r.call.Err(); err != nil {
		return v, err
	}
	return send.As[T](r.key, r.cmd.Val())
}

// numberIn returns the number behind the code of an error.
func numberIn(err error) (n uint64, ok bool) {
	_, failed := fmt.Sscanf(err.Error()[len(send.Code(err)):], "%d", &n)
	return n, failed == nil
}
