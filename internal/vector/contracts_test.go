package vector

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContracts: above each macro of the assembly stands "in: …; out: …; clobbers: …". Out and clobbers are exactly the
// registers that it changes, and in has every register that it reads first. Flags are not checked.
func TestContracts(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		a := assembly{registers: map[string]string{}, macros: map[string]*macro{}}
		a.read(t, file)
		for name, m := range a.macros {
			found++
			reads, writes := a.effects(t, m)
			require.Equal(t, sorted(m.changes), sorted(writes), "%s: macro %s: contract, and registers that it changes", file, name)
			for r := range reads {
				require.Contains(t, m.in, r, "%s: macro %s reads %s", file, name, r)
			}
		}
	}
	require.GreaterOrEqual(t, found, 50, "macros")
}

// assembly is a file with the headers that it includes.
type assembly struct {
	registers map[string]string // by their names
	macros    map[string]*macro
}

// A macro has sets of registers, as canonical names them, and of its parameters.
type macro struct {
	params      []string
	body        []string
	in, changes set
}

type set map[string]bool

var (
	define    = regexp.MustCompile(`^#define (\w+)(?:\(([^)]*)\))?\s*(.*)$`)
	register  = regexp.MustCompile(`^([ABCD]X|[SD]I|R\d+|[XYZ]\d+|K[0-7])$`)
	contract  = regexp.MustCompile(`^in: (.*); out: (.*); clobbers: (.*)$`)
	noWords   = regexp.MustCompile(`[\w·]*<>|·\w+|\w+\+\d+\(FP\)|\((SP|SB)\)|\$\w+`)
	word      = regexp.MustCompile(`[A-Za-z_]\w*`)
	onlyReads = regexp.MustCompile(`^(CMP[BWLQ]|TEST[BWLQ]|VPTEST|BTQ|KORTEST[BWLQ])$`)
	noOperand = regexp.MustCompile(`^(J\w+|RET|LOCK|VZEROUPPER|TEXT|DATA|NO_LOCAL_POINTERS)$`)

	// The last operand of these is only written, unless there is a mask. That of all others is also read.
	onlyWrites = regexp.MustCompile(`^(V?MOV|V?LEA|SET|V?P?BROADCAST|VP|VEXTRACT|VINSERT|VBLEND|K|BZHI|SHLX|SHRX|BSR|ANDN|MULX)`)
	merges     = regexp.MustCompile(`^(VPERMT2|VPTERNLOG|VP(ADD|SUB)Q.*,.*,.*,|V(MOVDQU8|BROADCASTI64X2) .*,.*,)`)
)

// read reads a file and its headers.
func (a assembly) read(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	comment := ""
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if part, ok := strings.CutPrefix(line, "//\t"); ok {
			comment = strings.TrimSpace(comment + " " + part)
			continue
		}
		if header := strings.Trim(strings.TrimPrefix(line, "#include "), `"`); strings.HasSuffix(header, "_amd64.h") {
			a.read(t, header)
		}
		if parts := define.FindStringSubmatch(line); parts != nil {
			rest, _, _ := strings.Cut(parts[3], " //")
			if rest = strings.TrimSpace(rest); register.MatchString(rest) {
				a.registers[parts[1]] = canonical(rest)
			} else if strings.HasPrefix(rest, "Bits_") {
				a.registers[parts[1]] = a.registers["filter"]
			} else {
				body := []string{strings.Trim(rest, `\ `)}
				for ; strings.HasSuffix(lines[i], `\`); i++ {
					body = append(body, strings.Trim(lines[i+1], "\\ \t"))
				}
				a.macros[parts[1]] = a.macro(t, file+": "+parts[1], parts[2], body, comment)
			}
		}
		comment = ""
	}
}

func (a assembly) macro(t *testing.T, name, params string, body []string, comment string) *macro {
	c := contract.FindStringSubmatch(comment)
	require.NotNil(t, c, "%s has no contract", name)
	m := &macro{params: split(params, ','), body: body}
	m.in = a.mentioned(c[1], m.params)
	m.changes = a.mentioned(c[2]+" "+c[3], m.params)
	return m
}

// canonical makes one name of those of a vector register.
func canonical(r string) string {
	if strings.ContainsRune("XYZ", rune(r[0])) {
		return "Z" + r[1:]
	}
	return r
}

// mentioned returns the registers and the parameters in a text.
func (a assembly) mentioned(text string, params []string) set {
	s := set{}
	for _, w := range word.FindAllString(noWords.ReplaceAllString(text, ""), -1) {
		switch {
		case slices.Contains(params, w):
			s[w] = true
		case a.registers[w] != "":
			s[a.registers[w]] = true
		case register.MatchString(w):
			s[canonical(w)] = true
		}
	}
	return s
}

// effects returns what a macro reads before it writes it, in the order of the text, and what it writes. It takes the
// contracts of the macros that it calls. After the code of an argument, any register may have been written.
func (a assembly) effects(t *testing.T, m *macro) (reads, writes set) {
	reads, writes = set{}, set{}
	unknown := false
	read := func(s set) {
		for r := range s {
			if !writes[r] && !unknown {
				reads[r] = true
			}
		}
	}
	var code func(text string)
	code = func(text string) {
		for _, call := range split(text, ' ') {
			name, list, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
			if slices.Contains(m.params, name) {
				writes[name], unknown = true, true
				continue
			}
			called, args := a.macros[name], split(list, ',')
			require.NotNil(t, called, "%q is neither a macro nor an argument", name)
			argument := func(r string) (text string, registers set) {
				if i := slices.Index(called.params, r); i >= 0 {
					return args[i], a.mentioned(args[i], m.params)
				}
				return "", set{r: true}
			}
			for r := range called.in {
				_, registers := argument(r)
				read(registers)
			}
			for r := range called.changes {
				text, registers := argument(r)
				if first := word.FindString(text); a.macros[first] != nil {
					code(text)
				}
				maps.Copy(writes, registers)
			}
		}
	}
	for _, line := range m.body {
		name, rest, _ := strings.Cut(line, " ")
		first := word.FindString(line)
		switch {
		case line == "", strings.HasSuffix(line, ":"), noOperand.MatchString(name):
		case a.macros[first] != nil || slices.Contains(m.params, first):
			code(line)
		default:
			from, to := a.operands(name, split(rest, ','), m.params)
			read(from)
			maps.Copy(writes, to)
		}
	}
	return reads, writes
}

// operands returns what an instruction reads and writes.
func (a assembly) operands(name string, operands, params []string) (from, to set) {
	from, to = set{}, set{}
	written := 1
	switch {
	case onlyReads.MatchString(name):
		written = 0
	case name == "MULXQ", name == "XCHGQ":
		written = 2
	}
	zeroes := strings.Contains(name, "XOR") && operands[0] == operands[len(operands)-1]
	for i, o := range operands {
		registers := a.mentioned(o, params)
		isTo := i >= len(operands)-written && !strings.Contains(o, "(")
		if isTo {
			maps.Copy(to, registers)
		}
		if !zeroes && (!isTo || !onlyWrites.MatchString(name) || merges.MatchString(name+" "+strings.Join(operands, ","))) {
			maps.Copy(from, registers)
		}
	}
	switch name {
	case "MULXQ":
		from["DX"] = true
	case "CMPXCHGQ":
		from["AX"], to["AX"] = true, true
	case "CMPXCHG16B":
		maps.Copy(from, set{"AX": true, "BX": true, "CX": true, "DX": true})
		maps.Copy(to, set{"AX": true, "DX": true})
	}
	return from, to
}

// split splits a text at a separator outside of parentheses.
func split(text string, separator rune) (parts []string) {
	depth, part := 0, ""
	for _, c := range text + string(separator) {
		switch {
		case c == separator && depth == 0:
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
			part = ""
			continue
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		part += string(c)
	}
	return parts
}

func sorted(s set) []string { return slices.Sorted(maps.Keys(s)) }
