// SPDX-License-Identifier: Apache-2.0
// What a reader of scope_stats.html sees and does.  Run by report.sh.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Checks, Visit, launch, serve } from './page.mjs';

const [directory] = process.argv.slice(2);
const NAMES = ['healthy', 'one', 'wide', 'hostile', 'bytes', 'fatal', 'dropped', 'unknown-counts',
  'incomplete', 'unpaired', 'empty', 'torn', 'large'];
const checks = new Checks();
const browser = await launch();
const server = await serve(directory);
const url = (name) => `${server.origin}/${name}.html`;
const strictUrl = (name) => `${server.origin}/strict/${name}.html`;
// Numbers beyond 2^53 stay text: a JavaScript number would round them.
const exact = (text) => JSON.parse(text.replace(/(:\s*|[[,]\s*)(\d{16,})/g, '$1"$2"'));
const facts = async (name) => exact(await readFile(join(directory, `${name}.json`), 'utf8'));
const digits = (text) => text.replace(/(?<=\d)[,\u00a0\u2009\u202f' ](?=\d{3})/g, '');

function quiet(visit, what) {
  checks.equal(visit.noise.join(' | '), '', `${what}: console`);
  checks.equal(visit.requests.filter((r) => !r.endsWith('.html')).join(' '), '',
    `${what}: requests`);
}

// SS-30: every figure of --json stands on the page, digit by digit.
async function numbers(name) {
  const want = await facts(name);
  const visit = await Visit.open(browser, url(name));
  const { page } = visit;
  const chip = page.locator('#status-chip');
  checks.equal(await chip.getAttribute('data-status'), want.status.chip, `${name}: chip`);
  const text = digits(await page.evaluate(() => document.body.innerText));
  const flat = (s) => digits(s.replace(/\s+/g, ' ').trim());
  checks.that(flat(text).includes(flat(want.status.sentence)), `${name}: the sentence is shown`);
  for (const key of ['total', 'pairs', 'unpaired_begin']) {
    const n = want.records[key];
    if (n)
      checks.that(text.includes(String(n)), `${name}: ${key} ${n} is shown`);
  }
  await topPeaks(page, want, name);
  quiet(visit, name);
  await visit.close();
}

const RISK = { tensormap: 'real_occupancy' };

async function topPeaks(page, want, name) {
  const risk = want.peaks.filter(
    (p) => p.metric === (RISK[p.resource] ?? 'scope_high_water'));
  const rows = await page.locator('#top-peaks tbody tr').evaluateAll(
    (list) => list.map((r) => r.textContent));
  if (risk.length === 0)
    return;
  checks.equal(rows.length, risk.length, `${name}: rows of Top Peaks`);
  risk.forEach((p, i) => {
    const row = digits(rows[i] ?? '');
    checks.that(row.includes(String(p.peak)), `${name}: row ${i} shows peak ${p.peak}: ${row}`);
    if (p.capacity !== null)
      checks.that(row.includes(String(p.capacity)), `${name}: row ${i} shows capacity`);
    if (p.use_percent !== null)
      checks.that(row.includes(`${Number(p.use_percent).toFixed(2)}`),
        `${name}: row ${i} shows ${p.use_percent} %: ${row}`);
    else
      checks.that(!row.includes('%'), `${name}: row ${i} has no percentage`);
  });
}

// A chart is drawn in its colours by presentation attributes alone.
async function colours(page, what) {
  const shapes = await page.evaluate(() => {
    const out = [];
    for (const svg of document.querySelectorAll('svg.chart')) {
      for (const e of svg.querySelectorAll('polyline, path, line, circle, rect, polygon')) {
        const s = getComputedStyle(e);
        out.push({ tag: e.tagName, fill: s.fill, stroke: s.stroke, dash: s.strokeDasharray,
          fillAttribute: e.closest('[fill]')?.getAttribute('fill'),
          strokeAttribute: e.closest('[stroke]')?.getAttribute('stroke') });
      }
    }
    return out;
  });
  checks.that(shapes.length > 0, `${what}: shapes are drawn`);
  const lines = shapes.filter((s) => s.tag === 'polyline' || s.tag === 'path');
  checks.that(lines.length > 0, `${what}: lines are drawn`);
  checks.equal(lines.filter((s) => s.fill !== 'none').length, 0, `${what}: filled lines`);
  checks.equal(lines.filter((s) => s.stroke === 'none' || s.stroke === 'rgb(0, 0, 0)').length, 0,
    `${what}: lines without a colour`);
  checks.that(new Set(lines.map((s) => s.stroke)).size >= 3, `${what}: lines differ in colour`);
  checks.that(lines.some((s) => s.dash !== 'none'), `${what}: dashes as well as colour`);
  const black = shapes.filter((s) => s.tag !== 'line' && s.fill === 'rgb(0, 0, 0)' && s.fillAttribute === undefined);
  checks.equal(black.length, 0, `${what}: black polygons`);
}

async function strictPolicy() {
  for (const name of ['healthy', 'hostile', 'large']) {
    const visit = await Visit.open(browser, strictUrl(name));
    await colours(visit.page, `strict ${name}`);
    checks.that(await visit.page.locator('#status-chip').isVisible(), `strict ${name}: chip`);
    await visit.close();
  }
  const visit = await Visit.open(browser, url('healthy'));
  await colours(visit.page, 'healthy');
  await visit.close();
}

// Everything essential without JavaScript.
async function noScript() {
  const want = await facts('healthy');
  const visit = await Visit.open(browser, url('healthy'), { javaScriptEnabled: false });
  const text = digits(await visit.page.locator('body').innerText());
  for (const p of want.peaks)
    checks.that(text.includes(String(p.peak)),
      `no script: ${p.resource} ring ${p.ring_depth} ${p.metric} ${p.peak} is visible`);
  checks.that(await visit.page.locator('svg.chart').first().isVisible(), 'no script: charts');
  quiet(visit, 'no script');
  await visit.close();
}

const LABELS = { 'High water': 'scope_high_water', 'Live at exit': 'real_occupancy',
  'Alloc per scope': 'scope_alloc', 'Live entries': 'real_occupancy' };

// The tooltip's words: metric, scope index, value, site (SS-33).
function tooltip(text) {
  const label = Object.keys(LABELS).find((l) => text.includes(l));
  const found = /#(\d+).*?y = ([\d,]+)/s.exec(text);
  const site = /site (.*)/.exec(text);
  return { metric: LABELS[label], index: Number(found?.[1]), value: found?.[2].replace(/,/g, ''),
    site: site?.[1] };
}

// The chart's box, once the scroll and its events are over.
async function intoView(chart) {
  await chart.scrollIntoViewIfNeeded();
  await chart.page().waitForTimeout(100);
  return chart.boundingBox();
}

async function hoverChart(page, chart, lines, what) {
  const box = await intoView(chart);
  const seen = new Set();
  for (let i = 1; i < 12; i++) {
    const x = box.x + box.width * i / 12;
    await page.mouse.move(x, box.y + box.height * (i % 3 + 1) / 4);
    const tip = page.locator('#tip');
    checks.that(await tip.isVisible(), `${what}: a tooltip at ${i}`);
    const got = tooltip(await tip.innerText());
    const line = lines.find((l) => l.metric === got.metric);
    checks.equal(got.value, line?.values[got.index], `${what}: value of scope ${got.index}`);
    checks.equal(got.site, line?.sites[got.index], `${what}: site of scope ${got.index}`);
    const dot = await chart.locator('.hover-dot').boundingBox();
    checks.that(dot && Math.abs(dot.x + dot.width / 2 - x) < box.width / 10, `${what}: dot`);
    const area = await tip.boundingBox();
    const view = page.viewportSize();
    checks.that(area.x >= 0 && area.x + area.width <= view.width && area.y >= 0
      && area.y + area.height <= view.height, `${what}: tooltip inside the window`);
    seen.add(got.index);
  }
  checks.that(seen.size >= Math.min(4, lines[0].values.length), `${what}: ${seen.size} scopes`);
  await page.mouse.move(box.x + box.width / 2, 0);
  await page.mouse.move(1, 1);
  checks.that(!await page.locator('#tip').isVisible(), `${what}: tooltip goes away`);
  checks.equal(await page.locator('.hover-dot').count(), 0, `${what}: dot goes away`);
}

async function hover() {
  for (const name of ['healthy', 'wide']) {
    const all = JSON.parse(await readFile(join(directory, `${name}.series.json`), 'utf8'));
    const visit = await Visit.open(browser, url(name));
    await visit.page.evaluate(() => document.querySelectorAll('details').forEach((d) => {
      d.open = true;
    }));
    for (const [resource, ring] of [['task_window', 0], ['heap', 1], ['tensormap', null]]) {
      const lines = all.filter((l) => l.resource === resource && l.ring === ring);
      const charts = visit.page.locator(
        `svg.chart[data-resource="${resource}"][data-ring="${ring ?? 'global'}"]`);
      for (let i = 0; i < await charts.count(); i++)
        await hoverChart(visit.page, charts.nth(i), lines, `hover ${name} ${resource} ${i}`);
    }
    quiet(visit, `hover ${name}`);
    await visit.close();
  }
}

// Among a million points the pointer finds the one that made the peak.
async function hoverPeak() {
  const want = (await facts('large')).peaks.filter((p) => p.resource === 'heap');
  const visit = await Visit.open(browser, url('large'));
  for (const peak of want) {
    const chart = visit.page.locator(
      `svg.chart[data-resource="heap"][data-ring="${peak.ring_depth}"]`).first();
    const box = await intoView(chart);
    const last = Number(await chart.getAttribute('data-scopes')) - 1;
    await visit.page.mouse.move(box.x + box.width * peak.scope_index / last,
      box.y + box.height * (0.07 + 0.8 * (1 - 1 / 1.1)));
    const got = tooltip(await visit.page.locator('#tip').innerText());
    checks.equal(got.index, peak.scope_index, `hover large ring ${peak.ring_depth}: index`);
    checks.equal(got.value, String(peak.peak), `hover large ring ${peak.ring_depth}: value`);
    checks.equal(got.site, peak.site, `hover large ring ${peak.ring_depth}: site`);
  }
  await visit.close();
}

const visibleText = (page) => page.evaluate(() => document.body.innerText);

async function modalOpen(page) {
  return page.locator('#chart-modal').isVisible();
}

async function modal() {
  const visit = await Visit.open(browser, url('healthy'));
  const { page } = visit;
  const chart = page.locator('svg.chart').first();
  const charts = await page.locator('svg.chart').count();
  const opener = page.locator('[tabindex="0"]:has(svg.chart), button:has(svg.chart), svg.chart[tabindex="0"]').first();
  checks.equal(await modalOpen(page), false, 'modal: closed at first');
  const small = await chart.boundingBox();
  const ways = {
    click: () => chart.click({ position: { x: small.width / 2, y: small.height / 2 } }),
    Enter: async () => { await opener.focus(); await page.keyboard.press('Enter'); },
    Space: async () => { await opener.focus(); await page.keyboard.press('Space'); },
  };
  const leave = {
    Escape: () => page.keyboard.press('Escape'),
    backdrop: () => page.mouse.click(3, 3),
  };
  for (const [way, open] of Object.entries(ways)) {
    for (const [exit, close] of Object.entries(leave)) {
      await open();
      checks.equal(await modalOpen(page), true, `modal: ${way} opens`);
      checks.equal(await page.locator('#chart-modal svg.chart').count(), 1, `modal: ${way}: one clone`);
      const big = await page.locator('#chart-modal svg.chart').boundingBox();
      checks.that(big && big.width > small.width, `modal: ${way}: larger`);
      checks.equal(await duplicateIds(page), '', `modal: ${way}: ids twice`);
      await close();
      checks.equal(await modalOpen(page), false, `modal: ${exit} closes`);
      await page.evaluate(() => new Promise((r) => setTimeout(r, 50)));
      checks.equal(await page.locator('#chart-modal svg.chart').count(), 0, `modal: ${exit} releases`);
      checks.equal(await page.locator('svg.chart').count(), charts, `modal: ${exit}: charts stay`);
    }
  }
  quiet(visit, 'modal');
  await visit.close();
}

const duplicateIds = (page) => page.evaluate(() => {
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  return [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))].join(' ');
});

// Tab reaches the charts, and what has the focus shows it.
async function keyboard(scheme) {
  const visit = await Visit.open(browser, url('healthy'), { media: { colorScheme: scheme } });
  const { page } = visit;
  let chartFocused = false;
  const invisible = [];
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body)
        return null;
      const s = getComputedStyle(e);
      return { tag: e.tagName, chart: e.matches('svg.chart') || e.querySelector('svg.chart') !== null,
        ring: (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none' };
    });
    if (at === null)
      continue;
    chartFocused ||= at.chart;
    if (!at.ring)
      invisible.push(at.tag);
  }
  checks.that(chartFocused, `keyboard ${scheme}: Tab reaches a chart`);
  checks.equal(invisible.join(' '), '', `keyboard ${scheme}: focus without a ring`);
  await visit.close();
}

// Hover works in the modal too, and its words are not behind the dialog.
async function modalHover() {
  const lines = JSON.parse(await readFile(join(directory, 'healthy.series.json'), 'utf8'));
  const visit = await Visit.open(browser, url('healthy'));
  const { page } = visit;
  await page.locator('svg.chart[data-resource="heap"]').first().click();
  await page.waitForTimeout(100);
  const chart = page.locator('#chart-modal svg.chart');
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.4);
  const got = tooltip(await page.locator('#tip').innerText());
  const line = lines.find((l) => l.resource === 'heap' && l.ring === 0 && l.metric === got.metric);
  checks.equal(got.value, line?.values[got.index], 'modal hover: value');
  const area = await page.locator('#tip').boundingBox();
  const onTop = await page.evaluate(([x, y]) => {
    document.getElementById('tip').style.pointerEvents = 'auto';
    return document.elementFromPoint(x, y)?.closest('#tip') !== null;
  }, [area.x + area.width / 2, area.y + area.height / 2]);
  checks.that(onTop, 'modal hover: the tooltip lies above the dialog');
  quiet(visit, 'modal hover');
  await visit.close();
}

// Plain inputs: a filter of scopes, tables that sort by exact numbers.
async function inputs() {
  const visit = await Visit.open(browser, url('wide'));
  const { page } = visit;
  const rows = page.locator('#sites tbody tr');
  const all = await rows.count();
  await page.locator('#scope-filter').fill('model.cpp:13');
  const left = page.locator('#sites tbody tr:visible');
  checks.equal(await left.count(), 1, 'filter: rows left');
  checks.that((await left.first().innerText()).includes('model.cpp:13'), 'filter: the right row');
  await page.locator('#scope-filter').fill('');
  checks.equal(await left.count(), all, 'filter: empty shows all');
  const heads = page.locator('#top-peaks thead th');
  for (let i = 0; i < await heads.count(); i++) {
    const name = (await heads.nth(i).innerText()).trim();
    if (!name.startsWith('Peak'))
      continue;
    const values = () => page.locator(`#top-peaks tbody tr td:nth-child(${i + 1}) data`)
      .evaluateAll((list) => list.map((d) => d.value));
    const want = (await values()).map(BigInt).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const seen = [];
    for (let click = 0; click < 2; click++) {
      await heads.nth(i).locator('button').focus();
      await page.keyboard.press('Enter');
      seen.push((await values()).join());
    }
    seen.sort();
    checks.equal(seen.join(' '), [want.join(), [...want].reverse().join()].sort().join(' '),
      'sort: both ways, exact beyond 2^53');
  }
  quiet(visit, 'inputs');
  await visit.close();
}

const luminance = (rgb) => {
  const [r, g, b] = rgb.match(/[\d.]+/g).map(Number).map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
};

// Text and lines against the nearest background that is painted.
const painted = (page) => page.evaluate(() => {
  const solid = (c) => !/^rgba\(.*, 0\)$/.test(c) && c !== 'transparent';
  const behind = (e) => {
    for (let n = e; n; n = n.parentElement) {
      const c = getComputedStyle(n).backgroundColor;
      if (solid(c))
        return c;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches &&
      getComputedStyle(document.documentElement).colorScheme.includes('dark')
      ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)';
  };
  const out = [];
  for (const e of document.querySelectorAll('h1, h2, h3, p, td, th, #status-chip, summary')) {
    if (e.textContent.trim() && e.checkVisibility())
      out.push([e.tagName + ' ' + e.textContent.trim().slice(0, 30), getComputedStyle(e).color,
        behind(e), 4.5]);
  }
  for (const e of document.querySelectorAll('svg.chart text'))
    out.push(['chart text', getComputedStyle(e).fill, behind(e), 4.5]);
  for (const e of document.querySelectorAll('svg.chart polyline'))
    out.push(['chart line', getComputedStyle(e).stroke, behind(e), 1.9]);
  return out;
});

async function themes() {
  const pages = {};
  for (const scheme of ['light', 'dark']) {
    const visit = await Visit.open(browser, url('healthy'), { media: { colorScheme: scheme } });
    const weak = (await painted(visit.page)).filter(([, a, b, least]) => contrast(a, b) < least)
      .map(([what, a, b]) => `${what} ${a} on ${b}`);
    checks.equal([...new Set(weak)].slice(0, 5).join('; '), '', `${scheme}: contrast`);
    pages[scheme] = await visit.page.evaluate(
      () => getComputedStyle(document.body).backgroundColor);
    quiet(visit, scheme);
    await visit.close();
  }
  checks.that(luminance(pages.light) > luminance(pages.dark) + 0.5, 'themes differ');
}

async function print() {
  const want = await facts('healthy');
  const visit = await Visit.open(browser, url('healthy'),
    { media: { media: 'print', colorScheme: 'dark' } });
  const { page } = visit;
  const text = digits(await visibleText(page));
  for (const p of want.peaks.filter((q) => q.metric === 'scope_alloc'))
    checks.that(text.includes(String(p.peak)), `print: ${p.resource} ${p.peak} is on paper`);
  const weak = (await painted(page)).filter(([, a, b, least]) => contrast(a, b) < least);
  checks.equal(weak.length, 0, `print: contrast ${JSON.stringify(weak[0])}`);
  checks.that(luminance((await painted(page))[0][2]) > 0.8, 'print: white paper in the dark theme');
  const shown = await page.locator('svg.chart:visible').count();
  checks.equal(shown, await page.locator('svg.chart').count(), 'print: every chart is on paper');
  const single = await Visit.open(browser, url('one'), { media: { media: 'print' } });
  await single.page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  checks.equal(await single.page.locator('svg.chart:visible').count(),
    await single.page.locator('svg.chart').count(), 'print: panels of one scope too');
  await single.close();
  checks.that((await page.pdf()).length > 10000, 'print: makes a PDF');
  await visit.close();
}

// No horizontal scroll at 1280 and 390 pixels; text is not tiny.
async function widths() {
  for (const name of ['healthy', 'wide', 'hostile', 'bytes', 'large', 'empty']) {
    for (const width of [1280, 390]) {
      const visit = await Visit.open(browser, url(name), { viewport: { width, height: 800 } });
      const over = await visit.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      checks.equal(over, 0, `${name} at ${width}: horizontal scroll`);
      const tiny = await visit.page.evaluate(() => [...document.querySelectorAll('td, th, p, h2')]
        .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).length);
      checks.equal(tiny, 0, `${name} at ${width}: tiny text`);
      await visit.close();
    }
  }
}

// Hostile names are text: shown as they are, never markup, never script.
async function hostile() {
  const want = await facts('hostile');
  const visit = await Visit.open(browser, url('hostile'));
  const { page } = visit;
  checks.equal(await page.locator('img, iframe, object, embed, link:not([href^="data:"])').count(), 0,
    'hostile: foreign elements');
  const clean = await Visit.open(browser, url('healthy'));
  const scripts = await clean.page.locator('script').count();
  await clean.close();
  checks.equal(await page.locator('script').count(), scripts, 'hostile: scripts');
  const text = await page.evaluate(() => document.body.textContent);
  const squash = (s) => s.replace(/[\s\u0000-\u001f\u2028\u2029\ufffd\u2400-\u2421]/g, '');
  for (const site of new Set(want.peaks.map((p) => p.site)))
    checks.that(squash(text).includes(squash(site).slice(0, 60)),
      `hostile: ${JSON.stringify(site.slice(0, 60))} is shown`);
  quiet(visit, 'hostile');
  await visit.close();
}

async function opening() {
  const visit = await Visit.open(browser, 'about:blank');
  const start = performance.now();
  await visit.page.goto(url('large'), { waitUntil: 'load' });
  await visit.page.evaluate(() => new Promise((r) => requestAnimationFrame(() => r())));
  const ms = performance.now() - start;
  console.log(`the page of 200,000 scopes opens in ${ms.toFixed(0)} ms`);
  checks.that(ms < 5000, `opens in ${ms.toFixed(0)} ms`);
  const nodes = await visit.page.locator('*').count();
  console.log(`${nodes} elements`);
  checks.that(nodes < 20000, `${nodes} elements`);
  await visit.close();
}

const steps = [...NAMES.map((name) => async function page() { await numbers(name); }),
  strictPolicy, noScript, hover, hoverPeak, modal, modalHover, inputs,
  async function keyboardLight() { await keyboard('light'); },
  async function keyboardDark() { await keyboard('dark'); },
  themes, print, widths, hostile, opening];
for (const step of steps)
  await step().catch((e) => checks.that(false, `${step.name}: ${e.message}`));
await browser.close();
server.close();
process.exit(checks.finish());
