package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// refused reports whether the server has refused a part's script without changing anything,
// so that the part must be sent in another way.
func (f *Filter) refused(p *part) bool {
	if p.packed == nil {
		return false
	}
	switch refusalOf(p.packed.Err()) {
	case notLoaded:
		if p.reload { // never: the source was sent
			return false
		}
		p.reload = true
		return true
	case notAllowed:
		f.noScripts.Store(true)
		return true
	}
	return false
}

// answer reads the reply to one command: the answers to its keys, and what the front can
// learn from it.
func (f *Filter) answer(ctx context.Context, p *part, add bool, answers []bool) error {
	if p.packed != nil {
		return f.answerScript(ctx, p, answers)
	}
	values, err := p.values.Result()
	if err != nil {
		p.refused = send.NotExecuted(err)
		return send.Explain(p.shard.name, err)
	}
	fields := len(p.positions)
	if !add && f.byWords {
		fields = len(p.words)
	}
	if want := p.before + fields; len(values) != want {
		return fmt.Errorf("redisfilter: key %q: %d replies, want %d", p.shard.name, len(values), want)
	}
	switch number := values[0]; {
	case p.slot == nil && number != p.life.epoch, p.slot != nil && ownerOf(number) != ownerOf(p.least):
		return f.diagnose(ctx, p.shard, p.life)
	case p.slot != nil && !p.slot.see(number, p.least):
		return f.older(ctx, p.shard, p.life, p.least-number)
	}
	err = f.confirmed(p)
	f.read(p, add, values[p.before:], answers, err == nil)
	return err
}

// confirmed returns the error of a command that was executed but that too few replicas
// have confirmed: its answers are known all the same.
func (f *Filter) confirmed(p *part) error {
	err := f.sender.Confirmed(p.command)
	p.unconfirmed = err != nil
	return err
}

// read reads the values of keys. Of bits that may be lost in a failover, the front learns
// nothing.
func (f *Filter) read(p *part, add bool, values []int64, answers []bool, learn bool) {
	if !add && f.byWords {
		begin := 0
		for i, end := range p.ends {
			all := true
			for j := begin; j < end; j++ {
				have := bits.ReverseBytes64(uint64(values[j]))
				all = all && have&p.words[j].mask == p.words[j].mask
				p.life.front.learn(p.words[j].index, have)
			}
			answers[p.keys[i]] = all
			begin = end
		}
		return
	}
	for i, key := range p.keys {
		all := true
		for j := i * f.k; j < (i+1)*f.k; j++ {
			set := values[j] != 0
			all = all && set
			if (set || add) && learn {
				p.life.front.learn(p.positions[j]/64, 1<<(p.positions[j]%64))
			}
		}
		answers[key] = all != add
	}
}

// answerScript reads the reply to a script.
func (f *Filter) answerScript(ctx context.Context, p *part, answers []bool) error {
	reply, err := p.packed.Text()
	if err != nil {
		p.refused = send.NotExecuted(err)
		if send.IsReply(err) && strings.HasPrefix(err.Error(), "NOTMINE ") {
			return f.diagnose(ctx, p.shard, p.life)
		}
		return send.Explain(p.shard.name, err)
	}
	if want := 8 + (len(p.keys)+7)/8; len(reply) != want {
		return fmt.Errorf("redisfilter: key %q: a reply of %d bytes, want %d", p.shard.name, len(reply), want)
	}
	if number := int64(binary.BigEndian.Uint64([]byte(reply[:8]))); !p.slot.see(number, p.least) {
		return f.older(ctx, p.shard, p.life, p.least-number)
	}
	err = f.confirmed(p)
	for i, key := range p.keys {
		answers[key] = reply[8+i/8]>>(i%8)&1 == 1
	}
	if err == nil {
		for _, w := range p.words {
			p.life.front.learn(w.index, w.mask)
		}
	}
	return err
}

// note files the keys of a part that failed. first is the index of the round's first key.
func (e *AddError) note(p *part, first int) {
	if e.Err == nil {
		e.Err = p.err
	} else if e.Err.Error() != p.err.Error() {
		e.Err = errors.Join(e.Err, p.err)
	}
	list := &e.Unknown
	switch {
	case p.unconfirmed:
		list = &e.Unconfirmed
	case p.command == nil || p.refused:
		list = &e.NotAdded
	}
	for _, i := range p.keys {
		*list = append(*list, first+i)
	}
}
