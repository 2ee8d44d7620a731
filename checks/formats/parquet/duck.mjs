// DuckDB, for the Go tests. Run as: node duck.mjs DIR. DIR/probes.json is {column: [SQL literals]}. It writes
// DIR/duck.parquet, with filters, and DIR/answers.json {column: [row groups that may have it]}.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
const require = createRequire(path.join(process.env.NODE_PATH, 'x'));
const { DuckDBInstance } = require('@duckdb/node-api');
const dir = process.argv[2];
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async sql => (await connection.runAndReadAll(sql)).getRowObjects();
const probes = JSON.parse(fs.readFileSync(path.join(dir, 'probes.json'), 'utf8'));

// A dictionary for each column, as DuckDB makes filters of such columns only.
await connection.run(`copy (select (i % 5000)::int as i32, (i % 5000)::bigint * 1000003 as i64,
  (i % 5000)::float / 7 as f32, (i % 5000)::double / 7 as f64, 'name ' || (i % 5000) as text
  from range(200000) t(i)) to '${dir}/duck.parquet' (format parquet, row_group_size 100000, dictionary_size_limit 100000)`);

const answers = {};
for (const [column, literals] of Object.entries(probes)) {
  answers[column] = [];
  for (const literal of literals) {
    const groups = await rows(`select row_group_id, bloom_filter_excludes from parquet_bloom_probe('${dir}/duck.parquet', '${column}', ${literal})`);
    answers[column].push(groups.filter(g => !g.bloom_filter_excludes).map(g => Number(g.row_group_id)));
  }
}
fs.writeFileSync(path.join(dir, 'answers.json'), JSON.stringify(answers));
console.log('DuckDB ' + (await rows('select version() v'))[0].v);
