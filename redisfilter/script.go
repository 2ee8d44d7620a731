package redisfilter

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// A request is a script that runs on a shard.
type request struct {
	shard  *shard
	script *script
	second string // the second key, if there is one
	args   []any
	once   bool // the client must not repeat it
	add    bool // replicas confirm it

	cmd  *redis.Cmd
	call *send.Call
}

// exec runs requests. A server that does not know a script gets its source.
func (f *Filter) exec(ctx context.Context, requests ...*request) {
	for _, verb := range []string{"EVALSHA", "EVAL"} {
		var todo []*request
		var calls []*send.Call
		for _, r := range requests {
			text := r.script.sha
			if verb == "EVAL" {
				if send.Code(r.err()) != "NOSCRIPT" {
					continue
				}
				text = r.script.source
			}
			args := append(make([]any, 0, 5+len(r.args)), verb, text, 1, r.shard.name)
			if r.second != "" {
				args[2] = 2
				args = append(args, r.second)
			}
			r.cmd = redis.NewCmd(ctx, append(args, r.args...)...)
			r.call = &send.Call{Key: r.shard.name, Cmd: r.cmd, Add: r.add}
			if r.once {
				r.call.Cmd = send.Once{Cmder: r.cmd}
			}
			todo, calls = append(todo, r), append(calls, r.call)
		}
		if len(todo) == 0 {
			return
		}
		f.sender.Send(ctx, calls...)
	}
}

// err returns the error of a request. The ACL's refusal of a command within a script names a line instead of the command.
func (r *request) err() error {
	err := r.call.Err()
	if err == nil || !strings.Contains(err.Error(), "The user executing the script") {
		return err
	}
	var commands []string
	if found := userLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		if lines := strings.Split(r.script.source, "\n"); 0 < line && line <= len(lines) {
			for _, call := range scriptCall.FindAllStringSubmatch(lines[line-1], -1) {
				commands = append(commands, call[1])
			}
		}
	}
	return refused{err, strings.Join(slices.Compact(commands), " or ")}
}

var (
	userLine   = regexp.MustCompile(`@user_script: ?(\d+)`)
	scriptCall = regexp.MustCompile(`call\('([A-Z]+)'`)
)

// A refused is an error reply that the ACL has caused.
type refused struct {
	error
	commands string
}

func (r refused) Error() string { return "NOPERM " + r.commands + ": " + r.error.Error() }
func (r refused) Unwrap() error { return r.error }

// reply returns the reply to a request, which must be a T.
func reply[T any](r *request) (v T, err error) {
	if err := r.err(); err != nil {
		return v, err
	}
	return send.As[T](r.shard.name, r.cmd.Val())
}

// do sends a command that may be repeated. Its reply must be a T.
func do[T any](ctx context.Context, f *Filter, key string, args ...any) (v T, err error) {
	got, err := f.sender.Do(ctx, key, args...)
	if err != nil {
		return v, send.Explain(key, err)
	}
	return send.As[T](key, got)
}

// number is an error with a number behind its code.
func numberIn(err error) (n uint64, ok bool) {
	_, failed := fmt.Sscanf(err.Error()[len(send.Code(err)):], "%d", &n)
	return n, failed == nil
}
