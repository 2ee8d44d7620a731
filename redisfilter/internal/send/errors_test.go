package send

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A reply is an error reply.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

// TestErrorReplies: the replies that a server gives before it executes a command say that the key was not added; any
// other may be a proxy's.
func TestErrorReplies(t *testing.T) {
	for text, notAdded := range map[string]bool{
		"ERR max number of clients reached":                                                         true,
		"ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed":          true,
		"ERR Error running script (call to f_1): @user_script: 12: @user_script: 12: -READONLY You": true,
		"ERR The user executing the script can't run this command or subcommand":                    true,
		"ERR ACL failure in script: User a has no permissions to run the 'bitop' command":           true,
		"ERR Connection timed out":    false,
		"upstream failure":            false,
		"ERR no such host":            false,
		"ERR Error running script: x": false,
	} {
		require.Equal(t, notAdded, Refused(reply(text)), text)
	}
	for _, text := range []string{ // of Redis 6.2 and 7.0
		"ERR Error running script (call to f_1a86a98cd1a4a0e2f0e5d1a90e5b3d1c7d1f3d45): @user_script:9: ERR string exceeds maximum allowed size (512MB)",
		"ERR string exceeds maximum allowed size (proto-max-bulk-len) script: 1a86a98cd1a4a0e2f0e5d1a90e5b3d1c7d1f3d45, on @user_script:9.",
	} {
		require.False(t, Refused(reply(text)), text)
		require.True(t, Raised(reply(text)), text)
	}
	require.False(t, Raised(reply("ERR string exceeds maximum allowed size")))
	require.EqualError(t, Explain("f", plain{reply("ERR Error compiling script (new function): :16: Script attempted to access nonexistent " +
		"global variable 'struct' stack traceback:  [G]: in function 'error'  :16: in function <:14>")}),
		`redisfilter: key "f": the server's Lua lacks a library that Redis and Valkey have: ERR Error compiling script (new function): :16: `+
			"Script attempted to access nonexistent global variable 'struct'")
	for _, code := range before {
		require.True(t, Refused(reply(code+" as a server says")), code)
	}
}
