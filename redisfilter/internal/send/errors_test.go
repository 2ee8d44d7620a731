package send

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A reply is an error reply.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

// TestErrorReplies: the replies that a server gives before it executes a command say that the key was not added; any other may
// be a proxy's.
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
	for _, code := range before {
		require.True(t, Refused(reply(code+" as a server says")), code)
	}
}
