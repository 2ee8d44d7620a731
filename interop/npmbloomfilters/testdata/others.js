// Prints a list of what the npm package bloom-filters saves and Read refuses: its other structures, and filters with
// seeds that Go does not have.
'use strict';
const lib = require('bloom-filters');
const { ScalableBloomFilter } = lib;
const keys = ['alice', 'bob'];
const made = [
  lib.PartitionedBloomFilter.create(10, 0.1), lib.CountingBloomFilter.create(10, 0.1), lib.CuckooFilter.create(10, 0.1),
  lib.XorFilter.create(keys), lib.InvertibleBloomFilter.create(10, 0.1), lib.CountMinSketch.create(0.1, 0.9), new lib.HyperLogLog(16),
  new lib.TopK(3, 0.1, 0.9),
];
if (ScalableBloomFilter) {
  const s = new ScalableBloomFilter(10, 0.1);
  for (const k of keys) s.add(k);
  made.push(s);
}
for (const seed of [-1, 0.5, 2 ** 53]) {
  const f = lib.BloomFilter.create(10, 0.1);
  f.seed = seed;
  made.push(f);
}
console.log(JSON.stringify(made.map(m => m.saveAsJSON())));
