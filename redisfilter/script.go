package redisfilter

import (
	"context"
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A script is a Lua script for the server. It checks the value before it writes, and does all of its work or nothing.
// If the value is missing, or belongs to another filter, the script changes nothing. A write that can fail for lack of
// memory comes before all other writes. All filters use the same three scripts.
type script struct{ source, sha string }

var (
	//go:embed scripts
	sources embed.FS

	openScript, addScript, deleteScript = newScript("open"), newScript("add"), newScript("delete")
)

func newScript(name string) *script {
	source, err := sources.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // the program was built without the file
	}
	return &script{string(source), redis.NewScript(string(source)).Hash()}
}

// A request is a call of a script on a shard. The first of keys is the name of the shard.
type request struct {
	keys   []string
	script *script
	args   []any
	add    bool // see send.Call
	alone  bool // see send.Call

	cmd  *redis.Cmd
	call *send.Call
}

// exec runs requests. If a server does not have a script, exec sends the source.
func (f *handle) exec(ctx context.Context, requests ...*request) {
	for _, verb := range []string{"EVALSHA", "EVAL"} {
		var calls []*send.Call
		for _, r := range requests {
			text := r.script.sha
			if verb == "EVAL" {
				if send.Code(r.call.Err()) != "NOSCRIPT" || r.call.Repeated() != nil {
					continue
				}
				text = r.script.source
			}
			args := append(make([]any, 0, 5+len(r.args)), verb, text, len(r.keys))
			for _, key := range r.keys {
				args = append(args, key)
			}
			r.cmd = redis.NewCmd(ctx, append(args, r.args...)...)
			r.call = &send.Call{Key: r.keys[0], Cmd: r.cmd, Add: r.add, Alone: r.alone}
			calls = append(calls, r.call)
		}
		f.sender.Send(ctx, calls...)
	}
}

// reply returns the reply to a request as a T, or its error.
func reply[T any](r *request) (v T, err error) {
	if err := r.call.Err(); err != nil {
		return v, err
	}
	return send.As[T](r.cmd.Val())
}

// numberIn returns the number after the code of an error reply: with the code send.More, it is the state of the value.
func numberIn(err error) (n uint64, ok bool) {
	_, failed := fmt.Sscanf(send.Reply(err), send.Code(err)+" %d", &n)
	return n, failed == nil
}
