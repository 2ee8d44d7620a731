'use strict';

const byId = id => document.getElementById(id);
const svgNamespace = 'http://www.w3.org/2000/svg';

// parse reads what people write: 1e6, 1,000,000, 10M, 1%, 1/1000. It is undefined for an empty field.
function parse(text) {
  const t = text.trim().replaceAll(/[,_\s]/g, '');
  if (t === '') return undefined;
  const parts = t.match(/^([0-9.]+(?:e[+-]?[0-9]+)?)(?:\/([0-9.]+(?:e[+-]?[0-9]+)?))?(%|k|M|G|T)?$/i);
  if (!parts) return NaN;
  const unit = { '%': 0.01, k: 1e3, K: 1e3, m: 1e6, M: 1e6, g: 1e9, G: 1e9, t: 1e12, T: 1e12 }[parts[3]] ?? 1;
  // The last two of 1e6 * 0.01 and the like must not show.
  return Number((Number(parts[1]) / Number(parts[2] ?? 1) * unit).toPrecision(15));
}

const grouped = x => x.toLocaleString('en', { maximumFractionDigits: 0 });
const short = x => x === 0 ? '0' : Number(x.toPrecision(3)).toString();
const percent = x => x >= 0.001 ? `${Number((100 * x).toPrecision(3))} %` : short(x);

function bytes(b) {
  for (const unit of ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']) {
    if (b < 1024 || unit === 'TiB') return `${unit === 'bytes' ? b : b.toPrecision(4)} ${unit}`;
    b /= 1024;
  }
}

function fill(table, rows) {
  table.tBodies[0].replaceChildren(...rows.map(([name, value]) => {
    const row = document.createElement('tr');
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = name;
    const cell = document.createElement('td');
    cell.textContent = value;
    row.append(head, cell);
    return row;
  }));
}

function element(name, attributes, text) {
  const e = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

function solve() {
  const given = { strategy: byId('strategy').value };
  const fields = { n: byId('n'), p: byId('p'), m: byId('m'), k: byId('k') };
  let problem = '';
  for (const [name, field] of Object.entries(fields)) {
    const value = parse(field.value);
    field.placeholder = '';
    field.toggleAttribute('aria-invalid', Number.isNaN(value));
    if (Number.isNaN(value)) problem = `${name} = “${field.value}” is not a number`;
    if (value !== undefined) given[name] = name === 'm' ? Math.floor(value * Number(byId('unit').value)) : value;
  }
  const a = problem ? { error: problem } : bloom.solve(given);
  byId('problem').textContent = a.error ?? '';
  if (a.error) {
    fill(byId('result'), []);
    byId('code').textContent = '';
    byId('curve').replaceChildren();
    byId('curve-text').textContent = '';
    return;
  }
  const unit = Number(byId('unit').value);
  fields.n.placeholder = grouped(a.n);
  fields.p.placeholder = percent(a.p);
  fields.m.placeholder = unit === 1 ? grouped(a.m) : (a.m / unit).toPrecision(4);
  fields.k.placeholder = a.k;
  fill(byId('result'), [
    ['Keys (n)', grouped(a.n)],
    ['Rate after n keys, true', `${percent(a.rate)}, one in ${grouped(1 / a.rate)}`],
    ['Bits (m)', grouped(a.m)],
    ['Memory', bytes(a.bytes)],
    ['Bits of a key (k)', a.k],
    ['Bits of memory a key', a.bitsPerKey.toFixed(2)],
    ['Strategy', a.strategy],
  ]);
  const strategy = byId('strategy').value === 'double-hashing' ? '' : `, bloom.WithStrategy(bloom.${goName(given.k || given.m ? a.strategy : given.strategy)})`;
  byId('code').textContent = given.k || given.m
    ? `f, err := bloom.NewWithParams(bloom.Params{N: ${a.n}, P: ${a.p}, M: ${a.m}, K: ${a.k}}${strategy})`
    : `f, err := bloom.New(${a.n}, ${a.p}${strategy})`;
  drawCurve(a);
}

// goName is the variable of a strategy: double-hashing is DoubleHashing.
const goName = name => name.split('-').map(w => w[0].toUpperCase() + w.slice(1)).join('');

function drawCurve(a) {
  const rates = bloom.curve({ strategy: a.strategy, m: a.m, k: a.k, n: a.n });
  if (rates.error) return;
  const width = 640, height = 260, left = 56, bottom = 34, top = 12;
  const lowest = Math.max(1e-12, a.rate / 1e3);
  const x = i => left + (width - left - 10) * i / (rates.length - 1);
  const y = r => top + (height - top - bottom) * Math.log(Math.max(r, lowest)) / Math.log(lowest);
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': 'curve-text' });
  for (let r = 1; r >= lowest * 0.999; r /= 10) {
    svg.append(element('path', { class: 'axis', d: `M${left} ${y(r)}H${width - 10}` }));
    svg.append(element('text', { x: left - 6, y: y(r) + 4, 'text-anchor': 'end' }, r >= 0.001 ? `${Number((r * 100).toPrecision(1))} %` : r.toExponential(0)));
  }
  const middle = (rates.length - 1) / 2;
  for (const [i, text] of [[0, '0'], [middle, 'n keys'], [rates.length - 1, '2n']]) {
    svg.append(element('text', { x: x(i), y: height - 10, 'text-anchor': i === 0 ? 'start' : i === middle ? 'middle' : 'end' }, text));
  }
  svg.append(element('path', { class: 'here', d: `M${x(middle)} ${top}V${height - bottom}` }));
  const path = rates.map((r, i) => r < lowest ? '' : `${x(i).toFixed(1)} ${y(r).toFixed(1)}`).filter(Boolean).join('L').replace(/^/, 'M');
  svg.append(element('path', { class: 'rate', d: path }));
  byId('curve').replaceChildren(svg);
  byId('curve-text').textContent = `With half of the keys ${percent(rates[middle / 2])}, with n ${percent(rates[middle])}, ` +
    `with one and a half times n ${percent(rates[middle * 1.5])}, with twice n ${percent(rates[rates.length - 1])}.`;
}

function drawSmall() {
  const keys = byId('keys').value.split('\n').filter(k => k !== '');
  const n = parse(byId('small-n').value), p = parse(byId('small-p').value);
  const s = bloom.small({ strategy: byId('strategy').value, n: n ?? 0, p: p ?? 0, keys });
  if (s.error) {
    byId('bits').replaceChildren();
    byId('bits-text').textContent = s.error;
    return;
  }
  const columns = 64, size = 10;
  const svg = element('svg', { viewBox: `0 0 ${columns * size} ${Math.ceil(s.bits.length / columns) * size}`, role: 'img', 'aria-labelledby': 'bits-text' });
  const last = new Set(s.positions);
  for (let i = 0; i < s.bits.length; i++) {
    svg.append(element('rect', {
      x: i % columns * size + 0.5, y: Math.floor(i / columns) * size + 0.5, width: size - 1, height: size - 1,
      class: last.has(i) ? 'of-last' : s.bits[i] === '1' ? 'one' : 'zero',
    }));
  }
  byId('bits').replaceChildren(svg);
  const set = s.bits.split('1').length - 1;
  byId('bits-text').textContent = `${s.bits.length} bits, ${s.k} of a key, ${set} are set by ${keys.length} keys; the rate now is ${percent(s.rate)}. ` +
    (keys.length ? `“${keys[keys.length - 1]}” has bits ${s.positions.join(', ')}.` : '');
}

async function openFile(file) {
  const rows = bloom.open(new Uint8Array(await file.arrayBuffer()));
  byId('file-problem').textContent = rows.error ? `${file.name}: ${rows.error}` : '';
  byId('asking').hidden = Boolean(rows.error);
  fill(byId('info'), rows.error ? [] : rows);
  ask();
}

function ask() {
  const key = byId('ask').value;
  const there = key === '' ? undefined : bloom.ask(key);
  byId('answer').textContent = there === undefined ? '' : there === true ? 'probably in it' : there === false ? 'definitely not in it' : there.error;
}

function start() {
  for (const name of bloom.strategies()) byId('strategy').append(new Option(name));
  byId('values').addEventListener('submit', e => e.preventDefault());
  byId('values').addEventListener('input', () => { solve(); drawSmall(); });
  for (const id of ['keys', 'small-n', 'small-p']) byId(id).addEventListener('input', drawSmall);
  byId('file').addEventListener('change', e => e.target.files[0] && openFile(e.target.files[0]));
  byId('ask').addEventListener('input', ask);
  const drop = byId('drop');
  drop.addEventListener('dragover', e => { e.preventDefault(); drop.classList.add('over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', e => {
    e.preventDefault();
    drop.classList.remove('over');
    if (e.dataTransfer.files[0]) openFile(e.dataTransfer.files[0]);
  });
  solve();
  drawSmall();
  document.body.dataset.ready = 'yes';
}

addEventListener('bloom-ready', start);
const go = new Go();
WebAssembly.instantiateStreaming(fetch('bloom.wasm'), go.importObject)
  .then(({ instance }) => go.run(instance))
  .catch(e => { byId('problem').textContent = `The calculator could not start: ${e.message}`; });
