package redisfilter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The model of one handle and two servers searches all orders of events. A handle claims slots and adds; a server
// executes a command at any time after it was sent, also after the handle has given it up, and one command twice;
// replies come late or never; the value is copied to a second server (a fork), or the first goes back to the copy;
// others claim slots. The handle sends an add without a reply again, to any server, while the command before may be on
// its way. After each event, each server is asked with what the handle knows. A confirmed add that is missing there
// must not go unnoticed.

const (
	modelRequests = 6 // claims and adds of the handle
	modelLanes    = 2
	modelSlots    = 2
	modelTag      = 1 // of the handle; others have 100 and more
)

type modelRecord struct {
	tag, stamp int8 // tag 0: none
	last       [modelLanes]int8
}

type modelSlot [2]modelRecord // of the owner, and of the one before

type modelValue struct {
	has    uint8 // the adds that it contains, each of its own key
	rival  bool  // somebody else added the key of request 0
	slots  [modelSlots]modelSlot
	claims int8
}

type modelRequest struct {
	state     int8
	given     bool // the handle has given it up
	server    int8
	place     int8 // of the record, from 2 on; 0: none
	lane      int8 // -1 for a claim
	number    int8
	confirmed [modelLanes]int8
	got       int8 // place in the reply, or what LATE says of news
	lost      bool // a sending has no reply
	fresh     bool // it has a new number, because the server had executed the one before
}

// The states of a request.
const (
	unsent = iota
	sent
	executed
	late
	older
	displaced
	waiting // to be sent again
	settled
)

type modelState struct {
	values    [2]modelValue
	copy      modelValue
	copied    bool
	forked    bool
	back      bool
	doubled   bool
	dropped   bool // the handle's slot was given away twice
	twice     bool // an add was executed twice in one history
	others    int8 // claims that are left to others
	repeats   int8
	ghost     modelRequest // a sending that is on its way, though the handle has sent the add again
	ghostOf   int8
	rival     bool
	notAdded  uint8 // the adds of which the handle says so
	wrong     bool  // the handle says what is not so
	requests  [modelRequests]modelRequest
	place     int8 // of the handle's record
	sent      [modelLanes]int8
	confirmed [modelLanes]int8
	have      uint8 // the confirmed adds
	told      bool
}

// A modelRule is what may happen; broken changes one step of the rule.
type modelRule struct {
	fork, restore, double bool
	rival                 bool
	repeats               int8
	others                int8 // claims
	requests              int
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

// claimSlot is what claim.lua does, see TestClaimFollowsTheRule.
func claimSlot(slots []modelSlot, claims int8, tag int8, confirmed [modelLanes]int8, broken string) (at int, ok bool) {
	own, next, oldest := -1, -1, -1
	record := modelRecord{tag: tag, stamp: claims + 1}
	for i := range slots {
		for half, r := range slots[i] {
			if r.tag == tag && (half == 0 || broken != "a claim begins at 0") {
				for lane := range record.last {
					record.last[lane] = max(record.last[lane], r.last[lane])
				}
			}
		}
		owner := slots[i][0]
		if owner.tag == tag {
			own = i
		}
		age := int(uint8(record.stamp - owner.stamp)) // modulo 2^8, and 2^32 in the script
		if owner.tag == 0 {
			age = 1 << 8
		}
		if age > oldest {
			next, oldest = i, age
		}
	}
	if wide(record.last).lack(wide(confirmed)) {
		switch broken {
		case "a claim is not checked":
			record.last = confirmed
		case "a claim begins at 0":
		default:
			return 0, false
		}
	}
	if own >= 0 {
		slots[own][0] = record
		return own, true
	}
	slots[next] = modelSlot{record, slots[next][0]}
	return next, true
}

func (v *modelValue) at(place int8) *modelRecord { return &v.slots[place/2-1][place%2] }

// knows reports whether a slot has a record of the handle.
func (v *modelValue) knows(place int8) bool {
	return place > 0 && (v.at(place).tag == modelTag || v.at(place^1).tag == modelTag)
}

func (m modelRule) execute(s *modelState, r *modelRequest, i int) {
	v := &s.values[r.server]
	switch {
	case r.lane < 0:
		at, ok := claimSlot(v.slots[:], v.claims, modelTag, r.confirmed, m.broken)
		if r.state = older; ok {
			v.claims++
			r.state, r.got = executed, int8(2+2*at)
		}
	case v.at(r.place).tag != modelTag:
		r.state = displaced
	default:
		record := v.at(r.place)
		t := ticket{int(r.lane), uint64(r.number), wide(r.confirmed)}
		if m.broken == "the server does not compare" {
			t.confirmed = numbers{}
		}
		there, byRival := v.has>>i&1 == 1, i == 0 && v.rival
		switch r.state = verdict(wide(record.last), t); r.state {
		case executed:
			before := record.last[r.lane]
			record.last[r.lane] = r.number
			if m.broken == "the server counts" {
				record.last[r.lane] = max(before-r.number+2, 2)
			}
			if !there && m.broken != "the news are not stored" {
				record.last[r.lane]++
			}
			record.stamp = v.claims
			s.twice = s.twice || there && !r.fresh && !byRival && !s.dropped
			v.has |= 1 << i
		case late:
			r.got = record.last[r.lane] - r.number
			news := !byRival
			s.wrong = s.wrong || !s.dropped && !r.given && (!there || !r.fresh && (r.got == 1) != news)
		}
	}
}

func (m modelRule) arrive(s *modelState, i int) {
	r := s.requests[i]
	s.requests[i] = modelRequest{state: settled}
	switch {
	case r.state == older:
		s.told = true
		m.refused(s, r, i)
	case r.lane < 0:
		s.place = r.got
	case r.state == displaced:
		if s.place == r.place {
			s.place ^= 1
		}
		s.requests[i] = m.later(r)
	case r.state == executed || r.state == late:
		l := lanes{wide(s.sent), wide(s.confirmed)}
		if r.state == executed || m.broken != "LATE confirms nothing" {
			l.confirm(ticket{lane: int(r.lane), number: uint64(r.number)})
		}
		s.have |= 1 << i
		if r.state == late && m.repeats > 0 {
			t := l.ticket(int(r.lane))
			s.requests[i] = modelRequest{state: waiting, lane: r.lane, number: int8(t.number), confirmed: narrow(t.confirmed), lost: true, fresh: true}
		}
		s.sent, s.confirmed = narrow(l.sent), narrow(l.confirmed)
	}
}

// later is a request that is to be sent again.
func (m modelRule) later(r modelRequest) modelRequest {
	return modelRequest{state: waiting, lane: r.lane, number: r.number, confirmed: r.confirmed, lost: r.lost, fresh: r.fresh}
}

// refused notes that the handle says that an add was not executed, if it does.
func (m modelRule) refused(s *modelState, r modelRequest, i int) {
	if r.lane >= 0 && !m.double && (!r.lost || m.broken == "a refused repeat is not added") {
		s.notAdded |= 1 << i
	}
}

// ask is a lookup that is executed at once: it reports whether the handle notices nothing. It looks at the record, or
// at the other half of the slot. If the record is in neither, it claims.
func (s *modelState) ask(server int, broken string) bool {
	if s.confirmed == [modelLanes]int8{} {
		return true
	}
	for _, place := range []int8{s.place, s.place ^ 1} {
		if record := s.values[server].at(place); record.tag == modelTag {
			return !wide(record.last).lack(wide(s.confirmed))
		}
	}
	slots := s.values[server].slots
	_, ok := claimSlot(slots[:], s.values[server].claims, modelTag, s.confirmed, broken)
	return ok || broken == "another tag is no loss"
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
			if r.lane >= 0 && m.broken != "a lane takes a second add" && !(r.state == waiting && r.lost && m.broken == "a lane is free before a repeat") {
				busy[r.lane] = true
			}
		}
	}
	for server := range s.values {
		if server == 1 && !s.forked {
			continue
		}
		if first >= 0 && !claiming && !owns(uint64(s.place/2*slotBytes)+uint64(s.place%2*recordBytes)) {
			n := s
			n.requests[first] = modelRequest{state: sent, server: int8(server), place: s.place, lane: -1, confirmed: s.confirmed}
			yield(n)
		}
		if s.place == 0 || s.place%2 == 1 {
			continue
		}
		if (s.others > 0 || s.copied) && s.confirmed != [modelLanes]int8{} { // the reply to a lookup says, perhaps late, that another handle has the slot
			n := s
			n.place ^= 1
			yield(n)
		}
		for i, r := range s.requests {
			if r.state == waiting {
				n := s
				r.state, r.server, r.place = sent, int8(server), s.place
				if r.lost && m.broken == "a repeat has a new number" {
					l := lanes{wide(s.sent), wide(s.confirmed)}
					t := l.ticket(int(r.lane))
					n.sent, r.number = narrow(l.sent), int8(t.number)
				}
				n.requests[i] = r
				yield(n)
			}
		}
		for lane := range modelLanes {
			if busy[lane] || first < 0 {
				continue
			}
			n := s
			l := lanes{wide(s.sent), wide(s.confirmed)}
			t := l.ticket(lane)
			n.requests[first] = modelRequest{state: sent, server: int8(server), place: s.place, lane: int8(lane), number: int8(t.number), confirmed: narrow(t.confirmed)}
			n.sent = narrow(l.sent)
			yield(n)
		}
	}
	for i, r := range s.requests {
		n := s
		switch r.state {
		case sent:
			m.execute(&n, &n.requests[i], i)
			if r.given {
				n.requests[i] = modelRequest{state: settled}
			}
			yield(n)
			if m.double && !s.doubled && r.lane >= 0 { // the server gets the command once more, and the handle only the second reply
				n.doubled, n.requests[i] = true, r
				yield(n)
			}
			if !r.given {
				n = s
				n.requests[i].given = true
				yield(n)
			}
			if r.lane >= 0 && !r.given && s.repeats < m.repeats && s.ghost.state == unsent { // the handle waits no longer
				n = s
				n.repeats++
				n.ghost, n.ghostOf = r, int8(i)
				n.ghost.given = true
				r.lost = true
				n.requests[i] = m.later(r)
				yield(n)
			}
		case executed, late, older, displaced:
			m.arrive(&n, i)
			yield(n)
			n = s
			n.requests[i] = modelRequest{state: settled} // the reply is lost
			yield(n)
			if r.lane >= 0 && s.repeats < m.repeats {
				n = s
				n.repeats++
				r.lost = true
				n.requests[i] = m.later(r)
				yield(n)
			}
		case waiting:
			n.requests[i] = modelRequest{state: settled} // its call ends
			m.refused(&n, r, i)
			yield(n)
		}
	}
	if s.ghost.state == sent {
		n := s
		m.execute(&n, &n.ghost, int(s.ghostOf))
		n.ghost, n.ghostOf = modelRequest{state: settled}, 0
		yield(n)
	}
	if m.rival && !s.rival {
		for server := range s.values {
			if server == 0 || s.forked {
				n := s
				n.rival = true
				if v := &n.values[server]; v.has&1 == 0 {
					v.has, v.rival = v.has|1, true
				}
				yield(n)
			}
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
	for server := range s.values {
		if s.others == m.others || server == 1 && !s.forked {
			continue
		}
		n := s
		v := &n.values[server]
		claimSlot(v.slots[:], v.claims, 100+s.others, [modelLanes]int8{}, "")
		v.claims++
		n.others++
		n.dropped = n.dropped || s.values[server].knows(s.place) && !v.knows(s.place)
		yield(n)
	}
}

// search returns the number of states, how often an add was lost in silence, an alarm was false, an add was executed
// twice, or the handle said of one what was not so.
func (m modelRule) search() (states, silent, alarms, twice, wrong int) {
	var begin modelState
	for i := m.requests; i < modelRequests; i++ {
		begin.requests[i].state = settled
	}
	seen := map[modelState]bool{begin: true}
	for todo := []modelState{begin}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for server, v := range s.values {
			if server == 1 && !s.forked {
				continue
			}
			if s.wrong || v.has&s.notAdded != 0 && !(v.rival && v.has&s.notAdded == 1) {
				wrong++
			}
			switch passes := s.ask(server, m.broken); {
			case passes && !s.told && s.have&^v.has != 0:
				silent++
			case (!passes || s.told) && !s.copied && !s.dropped:
				alarms++
			}
		}
		if s.twice {
			twice++
			continue
		}
		if m.broken != "" && silent+alarms+twice+wrong > 0 {
			break
		}
		if s.told {
			continue
		}
		m.next(s, func(n modelState) {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		})
	}
	return len(seen), silent, alarms, twice, wrong
}

func TestLanesModel(t *testing.T) {
	states := 0
	for _, m := range []modelRule{
		{requests: 5}, {requests: 5, fork: true}, {requests: 5, restore: true}, {requests: 4, fork: true, restore: true},
		{requests: 5, others: 3}, {requests: 3, others: 4, fork: true}, {requests: 3, others: 4, restore: true}, {requests: 4, others: 2, fork: true},
		{requests: 4, others: 3, double: true}, {requests: 3, others: 3, fork: true, restore: true, double: true},
		{requests: 4, repeats: 2}, {requests: 3, repeats: 2, fork: true, rival: true}, {requests: 3, repeats: 2, restore: true, rival: true},
		{requests: 3, repeats: 2, others: 3, rival: true}, {requests: 3, repeats: 1, others: 2, fork: true}, {requests: 3, repeats: 1, others: 2, restore: true},
	} {
		if testing.Short() {
			m.requests--
		}
		n, silent, alarms, twice, wrong := m.search()
		t.Logf("%+v: %d states, %d silent, %d false alarms, %d twice, %d wrong", m, n, silent, alarms, twice, wrong)
		require.Zero(t, silent, "%+v", m)
		require.Zero(t, wrong, "%+v", m)
		if m.others < 2*modelSlots { // beyond, the handle's slot may be given away twice while an add is under way
			require.Zero(t, alarms, "%+v", m)
			require.Zero(t, twice, "%+v", m)
		}
		states += n
	}
	t.Log(states, "states")
	for _, broken := range []string{
		"the server does not compare", "the server counts", "a lane takes a second add", "another tag is no loss", "a claim is not checked", "a claim begins at 0",
	} {
		n, silent, alarms, twice, wrong := modelRule{requests: 4, others: 3, fork: true, double: true, broken: broken}.search()
		t.Logf("%s: %d states, %d silent, %d false alarms, %d twice, %d wrong", broken, n, silent, alarms, twice, wrong)
		require.Positive(t, silent+alarms+twice+wrong, broken)
	}
	for _, broken := range []string{
		"a repeat has a new number", "a lane is free before a repeat", "LATE confirms nothing", "a refused repeat is not added",
		"the news are not stored", "a claim begins at 0", "a claim is not checked",
	} {
		n, silent, alarms, twice, wrong := modelRule{requests: 3, repeats: 2, others: 2, fork: true, rival: true, broken: broken}.search()
		t.Logf("%s: %d states, %d silent, %d false alarms, %d twice, %d wrong", broken, n, silent, alarms, twice, wrong)
		require.Positive(t, silent+alarms+twice+wrong, broken)
	}
}
