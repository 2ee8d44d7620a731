package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

const (
	killKeys = 1 << 20 // more than a child can add before its end
	killRate = 1e-6
)

// beKilled is what the processes do that are started to be killed: they say what they
// have done, once it is done, until the end comes.
func beKilled(what string, args []string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, values ...any) {
		fmt.Fprintf(out, format, values...)
		out.Flush()
	}
	switch what {
	case "add": // the same keys as its siblings, to the same file
		f, err := persist.Open(args[0], killKeys, killRate)
		if err != nil {
			say("error %v\n", err)
			return
		}
		for i := range killKeys {
			if f.AddString(strconv.Itoa(i)) {
				say("won %d\n", i)
			} else {
				say("lost %d\n", i)
			}
		}
	case "save": // a snapshot after every hundred keys
		f := bloom.MustNew(killKeys/16, killRate)
		for i := range killKeys / 16 {
			f.AddString(strconv.Itoa(i))
			if i%100 == 99 {
				if err := persist.Save(args[0], f); err != nil {
					say("error %v\n", err)
					return
				}
				say("saved %d\n", i)
			}
		}
	}
	time.Sleep(time.Minute)
}

// startAndKill runs a child until a random moment and returns the last whole lines
// that it said.
func (s *soak) startAndKill(after time.Duration, what, path string) (lines []string) {
	program, err := os.Executable()
	if err != nil {
		s.fault("%v", err)
		return nil
	}
	cmd := exec.Command(program, "-child", what, path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.fault("%v", err)
		return nil
	}
	time.AfterFunc(after, func() { cmd.Process.Kill() })
	for scanner := bufio.NewScanner(pipe); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	cmd.Wait() // it was killed: that is the error
	s.count("kills", 1)
	if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "error") {
		s.fault("%s: %s", what, lines[n-1])
	}
	return lines
}

// killAdders lets three processes add the same keys to one mapped file and kills them
// one after the other. Every key that one of them has spoken of must be there, and no
// two may have won it.
func (s *soak) killAdders() {
	path := filepath.Join(s.dir, "killed.map")
	defer os.Remove(path)
	var mu sync.Mutex
	winners, spoken := map[string]int{}, map[string]bool{}
	var wg sync.WaitGroup
	for range 3 {
		after := time.Duration(50+s.random.IntN(400)) * time.Millisecond
		wg.Go(func() {
			for _, line := range s.startAndKill(after, "add", path) {
				answer, key, _ := strings.Cut(line, " ")
				mu.Lock()
				spoken[key] = true
				if answer == "won" {
					winners[key]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	f, err := persist.Open(path, killKeys, killRate)
	if err != nil {
		s.fault("a file of killed processes: %v", err)
		return
	}
	defer f.Close()
	for key := range spoken {
		if _, err := strconv.Atoi(key); err == nil && !f.ContainsString(key) {
			s.fault("key %s of a killed process is missed", key)
		}
		if winners[key] > 1 {
			s.fault("key %s has %d winners among processes", key, winners[key])
		}
	}
	s.count("keys of killed processes", len(spoken))
	s.count("reopenings", 1)
}

// killSavers kills a process that saves snapshots again and again: the file is the
// last one that it spoke of, or a later one, whole.
func (s *soak) killSavers() {
	path := filepath.Join(s.dir, "killed.bloom")
	defer os.Remove(path)
	lines := s.startAndKill(time.Duration(50+s.random.IntN(400))*time.Millisecond, "save", path)
	if len(lines) == 0 {
		s.count("killed before the first snapshot", 1)
		return
	}
	last, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], "saved "))
	if err != nil {
		s.fault("%v", err)
		return
	}
	f, err := persist.Load(path)
	if err != nil {
		s.fault("a snapshot of a killed process: %v", err)
		return
	}
	for i := range last + 1 {
		if !f.ContainsString(strconv.Itoa(i)) {
			s.fault("key %d is missed in the snapshot of a killed process, which saved up to %d", i, last)
		}
	}
	s.count("snapshots of killed processes", 1)
}
