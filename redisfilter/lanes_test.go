package redisfilter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// The model of one handle and two servers searches all orders of events. A handle claims a slot and adds; a server
// executes a command at any time after it was sent, also after the handle has given it up; replies come late or never; the
// value is copied to a second server (a fork), or the first goes back to the copy; others claim slots. After each event,
// each server is asked with what the handle knows. A confirmed add that is missing there must not go unnoticed.

const (
	modelRequests = 5 // claims and adds of the handle
	modelLanes    = 2
	modelSlots    = 2
)

type modelSlot struct {
	tag  int8 // 0 free, from 100 on of another handle
	last [modelLanes]int8
}

type modelValue struct {
	has    uint8 // the adds that it contains
	slots  [modelSlots]modelSlot
	claims int8
}

type modelRequest struct {
	state      int8
	given      bool // the handle has given it up
	server     int8
	at, tag    int8
	lane       int8 // -1 for a claim
	number     int8
	confirmed  [modelLanes]int8
	gotAt, got int8 // of the reply
}

// The states of a request.
const (
	unsent = iota
	sent
	executed
	late
	older
	displaced
	settled
)

type modelState struct {
	values    [2]modelValue
	copy      modelValue
	copied    bool
	forked    bool
	back      bool
	claimed   bool // by another
	requests  [modelRequests]modelRequest
	at, tag   int8 // of the handle's slot
	claim     int8
	sent      [modelLanes]int8
	confirmed [modelLanes]int8
	have      uint8 // the confirmed adds that the slot protects
	told      bool
}

// A modelRule is what the handle and the server do; broken changes one step of it.
type modelRule struct {
	fork, restore, claims bool
	broken                string
}

func wide(n [modelLanes]int8) (w numbers) {
	for i, x := range n {
		w[i] = uint64(x)
	}
	return w
}

func narrow(w numbers) (n [modelLanes]int8) {
	for i := range n {
		n[i] = int8(w[i])
	}
	return n
}

// verdict is what the server does with a ticket; add.lua does the same, see TestServerFollowsTheRule.
func verdict(have numbers, t ticket) int8 {
	switch {
	case have.lack(t.confirmed):
		return older
	case have[t.lane] >= t.number:
		return late
	}
	return executed
}

func (m modelRule) execute(s *modelState, i int) {
	r := &s.requests[i]
	v := &s.values[r.server]
	switch sl := &v.slots[r.at]; {
	case r.lane < 0:
		at := v.claims % modelSlots // the oldest: each claim stamps
		v.claims++
		v.slots[at] = modelSlot{tag: r.tag}
		r.state, r.gotAt, r.got = executed, at, v.claims
	case sl.tag != r.tag:
		r.state, r.got = displaced, v.claims
	default:
		t := ticket{int(r.lane), uint64(r.number), wide(r.confirmed)}
		if m.broken == "the server does not compare" {
			t.confirmed = numbers{}
		}
		if r.state = verdict(wide(sl.last), t); r.state == executed {
			sl.last[r.lane] = r.number
			if m.broken == "the server counts" {
				sl.last[r.lane] = max(sl.last[r.lane]-r.number+1, 1)
			}
			v.has |= 1 << i
		}
	}
	if r.given {
		*r = modelRequest{state: settled}
	}
}

func (m modelRule) arrive(s *modelState, i int) {
	r := s.requests[i]
	s.requests[i] = modelRequest{state: settled}
	switch {
	case r.lane < 0:
		s.at, s.tag, s.claim = r.gotAt, r.tag, r.got
		s.sent, s.confirmed, s.have = [modelLanes]int8{}, [modelLanes]int8{}, 0
	case r.tag != s.tag: // of a slot that the handle has lost
	case r.state == older || r.state == displaced && r.got <= s.claim:
		s.told = true
	case r.state == displaced:
		s.tag, s.have = 0, 0
	case r.state == executed:
		l := lanes{wide(s.sent), wide(s.confirmed)}
		l.confirm(ticket{lane: int(r.lane), number: uint64(r.number)})
		s.confirmed = narrow(l.confirmed)
		s.have |= 1 << i
	}
}

// ask is a lookup that is executed at once: it reports whether the handle notices nothing.
func (s *modelState) ask(server int) bool {
	sl := s.values[server].slots[s.at]
	return s.tag == 0 || sl.tag == s.tag && !wide(sl.last).lack(wide(s.confirmed))
}

func (m modelRule) next(s modelState, yield func(modelState)) {
	first, claiming := -1, false
	var busy [modelLanes]bool
	for i, r := range s.requests {
		if r.state == unsent && first < 0 {
			first = i
		}
		if r.state != unsent && r.state != settled && !r.given {
			claiming = claiming || r.lane < 0
			if r.lane >= 0 && r.tag == s.tag && m.broken != "a lane takes a second add" {
				busy[r.lane] = true
			}
		}
	}
	for server := range s.values {
		if first < 0 || claiming || server == 1 && !s.forked {
			continue
		}
		r := modelRequest{state: sent, server: int8(server), at: s.at, tag: s.tag, lane: -1}
		if s.tag == 0 {
			n := s
			r.tag = int8(first + 1)
			n.requests[first] = r
			yield(n)
			continue
		}
		for lane := range modelLanes {
			if busy[lane] {
				continue
			}
			n := s
			l := lanes{wide(s.sent), wide(s.confirmed)}
			t := l.ticket(lane)
			r.lane, r.number, r.confirmed = int8(lane), int8(t.number), narrow(t.confirmed)
			n.requests[first], n.sent = r, narrow(l.sent)
			yield(n)
		}
	}
	for i, r := range s.requests {
		n := s
		switch r.state {
		case sent:
			m.execute(&n, i)
			yield(n)
			if !r.given {
				n = s
				n.requests[i].given = true
				yield(n)
			}
		case executed, late, older, displaced:
			m.arrive(&n, i)
			yield(n)
			n = s
			n.requests[i] = modelRequest{state: settled} // the reply is lost
			yield(n)
		}
	}
	if !s.copied && (m.fork || m.restore) {
		n := s
		n.copied, n.copy = true, s.values[0]
		yield(n)
	}
	if s.copied && m.fork && !s.forked {
		n := s
		n.forked, n.values[1] = true, s.copy
		yield(n)
	}
	if s.copied && m.restore && !s.back {
		n := s
		n.back, n.values[0] = true, s.copy
		yield(n)
	}
	if m.claims && !s.claimed {
		n := s
		v := &n.values[0]
		v.slots[v.claims%modelSlots] = modelSlot{tag: 100}
		v.claims++
		n.claimed = true
		yield(n)
	}
}

// search returns the number of states, and whether an add was lost in silence or a handle alarmed for nothing.
func (m modelRule) search(requests int) (states int, silent, alarm bool) {
	var begin modelState
	for i := requests; i < modelRequests; i++ {
		begin.requests[i].state = settled
	}
	seen := map[modelState]bool{begin: true}
	for todo := []modelState{begin}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for server, v := range s.values {
			silent = silent || (server == 0 || s.forked) && s.have&^v.has != 0 && s.ask(server)
		}
		alarm = alarm || s.told && !s.copied
		if s.told || silent {
			continue
		}
		m.next(s, func(n modelState) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		})
	}
	return len(seen), silent, alarm
}

func TestLanesModel(t *testing.T) {
	states := 0
	for _, m := range []modelRule{
		{}, {claims: true}, {fork: true}, {restore: true}, {fork: true, claims: true}, {restore: true, claims: true}, {fork: true, restore: true},
	} {
		requests := modelRequests
		if m.claims || m.fork && m.restore {
			requests-- // seconds instead of minutes
		}
		n, silent, alarm := m.search(requests)
		require.False(t, silent, "%+v", m)
		require.False(t, alarm, "%+v", m)
		states += n
	}
	t.Log(states, "states")
	for _, broken := range []string{"the server does not compare", "the server counts", "a lane takes a second add"} {
		_, silent, alarm := modelRule{fork: true, restore: true, broken: broken}.search(4)
		require.True(t, silent || alarm, broken)
	}
}

// TestServerFollowsTheRule compares the script with verdict for random numbers.
func TestServerFollowsTheRule(t *testing.T) {
	ctx := context.Background()
	server := redistest.Start(t)
	f, err := Open(ctx, server.Client, "f", 1000, 0.01, WithCache(0))
	require.NoError(t, err)
	_, err = f.Add(ctx, []byte("key"))
	require.NoError(t, err)
	s := f.shards[0]
	l, sl := s.value.Load(), s.value.Load().slot.Load()
	random := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 { return []uint64{0, 1, 2, 255, 256, 1 << 32, 1<<40 - 1}[random.IntN(7)] }
	counts := map[int8]int{}
	for range 3000 {
		var have, confirmed numbers
		for lane := range have {
			have[lane] = number()
			confirmed[lane] = min(number(), have[lane]+uint64(random.IntN(20)/19))
		}
		tick := ticket{random.IntN(lanesPerSlot), max(1, number()), confirmed}
		var stored []byte
		for _, n := range have {
			stored = appendNumber(stored, n)
		}
		require.NoError(t, server.Client.SetRange(ctx, "f", int64(sl.at+lanesField), string(stored)).Err())
		r := &request{keys: []string{"f"}, script: addScript, args: append(sl.args(l.epoch, tick), []byte{}, 0, 2, "p", 1, false)}
		f.exec(ctx, r)
		want := verdict(have, tick)
		counts[want]++
		switch err := fmt.Sprint(r.call.Err()); want {
		case executed:
			require.NoError(t, r.call.Err())
			have[tick.lane] = tick.number
		case late:
			require.True(t, strings.HasPrefix(err, "BLOOMLATE"), err)
		case older:
			require.True(t, strings.HasPrefix(err, "BLOOMOLDER"), err)
		}
		value := server.Client.Get(ctx, "f").Val()
		require.Equal(t, have, numbersOf([]byte(value[sl.at+lanesField:][:numberBytes*lanesPerSlot])))
	}
	require.Len(t, counts, 3)
	require.Greater(t, slices.Min([]int{counts[executed], counts[late], counts[older]}), 100)
}
