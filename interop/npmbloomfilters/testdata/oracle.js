// The npm package bloom-filters itself, for the Go tests. It is
// found where NODE_PATH says. Run as: node oracle.js PACKAGE DIR. DIR/cases.json asks for filters,
//
//   {"probes": [keys], "more": [keys], "cases": [{"name", "n", "p", "seed", "keys": [keys]}]}
'use strict';
const fs = require('fs');
const path = require('path');
const [npm, dir] = process.argv.slice(2);
const { BloomFilter } = require(npm);

const read = name => JSON.parse(fs.readFileSync(path.join(dir, name), 'utf8'));
const write = (name, text) => fs.writeFileSync(path.join(dir, name), text);
const ask = (filter, keys) => keys.map(k => (filter.has(k) ? '1' : '0')).join('');

const { cases, probes, more } = read('cases.json');
const answers = {};
for (const c of cases) {
  const filter = BloomFilter.create(c.n, c.p);
  if (c.seed !== 0x1234567890) filter.seed = c.seed; // otherwise it is the default
  for (const k of c.keys) filter.add(k);
  write(c.name + '.js.json', JSON.stringify(filter.saveAsJSON()));
  answers[c.name] = ask(filter, probes);
  if (fs.existsSync(path.join(dir, c.name + '.go.json'))) {
    const other = BloomFilter.fromJSON(read(c.name + '.go.json'));
    if (!other.equals(filter) || other.seed !== filter.seed) throw new Error(c.name + ': another filter from Go');
    if (ask(other, probes) !== answers[c.name]) throw new Error(c.name + ': other answers from Go');
    for (const k of more) other.add(k);
    write(c.name + '.more.json', JSON.stringify(other.saveAsJSON()));
  }
}
write('answers.json', JSON.stringify(answers));

// Sizes: [[n, p], …] to [[m, k], …].
if (fs.existsSync(path.join(dir, 'sizes.json'))) {
  const formulas = require(npm + '/dist/formulas');
  write('sizes.js.json', JSON.stringify(read('sizes.json').map(([n, p]) => {
    const m = formulas.optimalFilterSize(n, p);
    return [m, formulas.optimalHashes(m, n)];
  })));
}
console.log('bloom-filters ' + require(npm + '/package.json').version + ', Node ' + process.version);
