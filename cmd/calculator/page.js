'use strict';

const byId = id => document.getElementById(id);
const svgNamespace = 'http://www.w3.org/2000/svg';
const fields = ['strategy', 'n', 'p', 'm', 'unit'];
const computed = ['n', 'p', 'm'];

const grouped = x => x.toLocaleString('en', { maximumFractionDigits: 0 });
const short = x => x === 0 ? '0' : Number(x.toPrecision(3)).toString();
const percent = x => x >= 1e-5 ? `${Number((100 * x).toPrecision(x > 0.99 ? 6 : 3))} %` : short(x);

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

function update() {
  const given = Object.fromEntries(fields.map(name => [name, byId(name).value]));
  const a = calculate(given);
  byId('problem').textContent = a.error ?? '';
  byId('note').textContent = a.note ?? '';
  byId('copied').textContent = '';
  byId('copy').hidden = Boolean(a.error);
  for (const name of computed) {
    byId(name).placeholder = '';
    byId(`${name}-read`).textContent = a.read[name] ? `= ${a.read[name]}` : '';
    if (a.field === name) byId(name).setAttribute('aria-invalid', 'true');
    else byId(name).removeAttribute('aria-invalid');
  }
  if (a.error) {
    fill(byId('result'), []);
    byId('code').textContent = byId('curve-text').textContent = '';
    byId('curve').replaceChildren();
    return;
  }
  const unit = Number(given.unit);
  byId('n').placeholder = grouped(a.n);
  byId('p').placeholder = percent(a.p);
  byId('m').placeholder = unit === 1 ? grouped(a.m) : (a.m / unit).toPrecision(4);
  fill(byId('result'), [
    ['Keys (n)', grouped(a.n)],
    ['Rate at n keys', a.rateText],
    ['Bits (m)', grouped(a.m)],
    ['Memory', bytes(a.bytes)],
    ['Bits set per key (k)', a.k],
    ['Bits per key', a.bitsPerKey.toFixed(2)],
    ['Strategy', a.strategy],
  ]);
  byId('code').textContent = a.code;
  drawCurve(a);
}

function drawCurve(a) {
  const rates = a.rates;
  // In the units of the page, so that a phone shows the labels as large as other text. The widest one, 0.001 %, fits left.
  const width = byId('curve').clientWidth || 640, height = 260, left = 72, bottom = 34, top = 12;
  const lowest = Math.max(1e-30, a.rate / 1e3);
  const step = 10 ** Math.ceil(-Math.log10(lowest) / 12); // at most 12 lines
  const x = i => left + (width - left - 10) * i / (rates.length - 1);
  const y = r => top + (height - top - bottom) * Math.log(Math.max(r, lowest)) / Math.log(lowest);
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': 'curve-text' });
  for (let r = 1; r >= lowest * 0.999; r /= step) {
    svg.append(element('path', { class: 'axis', d: `M${left} ${y(r)}H${width - 10}` }));
    svg.append(element('text', { x: left - 6, y: y(r) + 4, 'text-anchor': 'end' }, r >= 1e-5 ? `${Number((r * 100).toPrecision(1))} %` : r.toExponential(0)));
  }
  const middle = (rates.length - 1) / 2;
  for (const [i, text] of [[0, '0'], [middle, 'n keys'], [rates.length - 1, '2n']]) {
    svg.append(element('text', { x: x(i), y: height - 10, 'text-anchor': i === 0 ? 'start' : i === middle ? 'middle' : 'end' }, text));
  }
  svg.append(element('path', { class: 'here', d: `M${x(middle)} ${top}V${height - bottom}` }));
  const path = rates.map((r, i) => r < lowest ? '' : `${x(i).toFixed(1)} ${y(r).toFixed(1)}`).filter(Boolean).join('L').replace(/^/, 'M');
  if (path.length > 1) svg.append(element('path', { class: 'rate', d: path }));
  byId('curve').replaceChildren(svg);
  byId('curve-text').textContent = `At n/2 keys ${percent(rates[middle / 2])}, at n ${percent(rates[middle])}, ` +
    `at 1.5n ${percent(rates[middle * 1.5])}, at 2n ${percent(rates[rates.length - 1])}.`;
}

// The fields are in the address, so that a link or a bookmark keeps them.
function remember() {
  history.replaceState(null, '', `#${new URLSearchParams(fields.map(name => [name, byId(name).value]))}`);
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const name of fields) {
    if (!state.has(name)) continue;
    const before = byId(name).value;
    byId(name).value = state.get(name).slice(0, 40); // as maxlength
    if (byId(name).value === '' && byId(name).options) byId(name).value = before;
  }
  update();
}

async function copy() {
  try {
    await navigator.clipboard.writeText(byId('code').textContent);
    byId('copied').textContent = 'Copied.';
  } catch { // without permission, or over plain HTTP
    getSelection().selectAllChildren(byId('code'));
    byId('copied').textContent = 'Selected. Copy it with Ctrl+C.';
  }
}

addEventListener('bloom-ready', () => {
  byId('strategy').replaceChildren(...strategies.map(name => new Option(name)));
  byId('values').addEventListener('submit', e => e.preventDefault());
  byId('values').addEventListener('input', () => { update(); remember(); });
  byId('copy').addEventListener('click', copy);
  addEventListener('hashchange', recall);
  addEventListener('resize', update);
  recall();
  document.body.dataset.ready = 'yes';
});

async function start() {
  const go = new Go(); // of wasm_exec.js
  const response = await fetch('bloom.wasm');
  if (!response.ok) throw new Error(`bloom.wasm: ${response.status} ${response.statusText}`);
  const code = await response.arrayBuffer(); // instantiateStreaming needs the right Content-Type
  const { instance } = await WebAssembly.instantiate(code, go.importObject);
  go.run(instance);
}
start().catch(e => {
  byId('note').textContent = '';
  byId('problem').textContent = `The calculator could not start: ${e.message}`;
});
