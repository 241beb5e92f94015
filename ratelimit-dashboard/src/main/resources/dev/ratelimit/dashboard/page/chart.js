// Requests over time as bars: allowed below, denied above with stripes, so that colour is not the only difference.

import { button, clock, compact, day, el, number, percent, svg, utc, utcDay } from './dom.js';

const HEIGHT = 210;
const LEFT = 44;
const RIGHT = 4;
const TOP = 10;
const BOTTOM = 24;
const FLOOR = HEIGHT - BOTTOM;

const LENGTH = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** All periods from the first to the last, those without requests included. */
function complete({ granularity, from, until, periods }) {
  const length = LENGTH[granularity];
  const known = new Map(periods.map(period => [Date.parse(period.start), period]));
  const found = [];
  for (let start = Math.ceil(Date.parse(from) / length) * length; start <= Date.parse(until); start += length) {
    const totals = known.get(start)?.totals;
    found.push({
      start: new Date(start),
      allowed: totals?.allowed ?? 0,
      denied: totals ? totals.throttled + totals.blocked : 0,
      failed: totals?.failed ?? 0,
    });
  }
  return found;
}

const all = period => period.allowed + period.denied + period.failed;

/** A round number that is not less. */
function rounded(value) {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map(step => step * size).find(step => step >= value);
}

function name(start, granularity) {
  return granularity === 'day' ? `${utcDay(start)} (UTC)` : granularity === 'hour' ? `${day(start)}, ${clock(start)}` : clock(start);
}

function counted({ allowed, denied, failed }) {
  return `${number(allowed)} allowed, ${number(denied)} denied`
    + (allowed + denied + failed ? ` (${percent(denied, allowed + denied + failed)})` : '')
    + (failed ? `, ${number(failed)} not decided by the store` : '');
}

function grid(width, most) {
  const high = part => FLOOR - part * (FLOOR - TOP);
  return [0, 0.25, 0.5, 0.75, 1].map(part => svg('g', {},
    svg('line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: high(part), y2: high(part) }),
    part * 4 % 2 ? null : svg('text', { class: 'axis', x: LEFT - 8, y: high(part) + 4, 'text-anchor': 'end' }, compact(most * part))));
}

function bars(periods, step, most) {
  const tall = value => (value / most) * (FLOOR - TOP);
  return periods.map((period, index) => {
    let top = FLOOR;
    const part = (kind, value) => {
      top -= tall(value);
      return value ? svg('rect', {
        class: kind, x: (LEFT + step * (index + 0.12)).toFixed(2), width: (step * 0.76).toFixed(2), y: top.toFixed(2), height: tall(value).toFixed(2),
      }) : null;
    };
    return svg('g', { class: index === periods.length - 1 ? 'unfinished' : undefined },
      part('allowed', period.allowed), part('denied', period.denied), part('undecided', period.failed));
  });
}

/** As many times along the axis as fit. */
function labels(periods, granularity, step) {
  const wide = granularity === 'day' ? 56 : 46;
  const every = { minute: [5, 10, 15, 20, 30], hour: [2, 3, 4, 6, 12], day: [2, 5, 7, 10, 15] }[granularity].find(number => number * step >= wide) ?? 60;
  return periods.map((period, index) => {
    const value = granularity === 'minute' ? period.start.getMinutes() : granularity === 'hour' ? period.start.getHours() : periods.length - 1 - index;
    const x = LEFT + (index + 0.5) * step;
    return value % every !== 0 || x > LEFT + periods.length * step - wide / 2 || x < LEFT + wide / 3 ? null
      : svg('text', { class: 'axis', x: x.toFixed(2), y: HEIGHT - 6, 'text-anchor': 'middle' }, granularity === 'day' ? utcDay(period.start) : clock(period.start));
  });
}

function stripes() {
  return svg('defs', {},
    svg('pattern', { id: 'stripes', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      svg('rect', { class: 'stripe-ground', width: 6, height: 6 }),
      svg('rect', { class: 'stripe', width: 2, height: 6 })));
}

const RANGES = [['hour', 'Last hour'], ['day', '24 hours'], ['month', '30 days']];

/** Buttons for the time that a chart shows. */
export function ranges(changed) {
  let range = 'hour';
  const choice = el('div', { class: 'choice', role: 'group', 'aria-label': 'Time' }, RANGES.map(([key, text]) =>
    button(text, {
      'aria-pressed': String(key === range), onclick: event => {
        range = key;
        for (const other of choice.children) {
          other.setAttribute('aria-pressed', String(other === event.currentTarget));
        }
        changed();
      },
    })));
  return { choice, chosen: () => range };
}

/** Draws the periods of a timeline. The arrow keys walk through them. */
export function chart(timeline) {
  const { granularity } = timeline;
  const periods = complete(timeline);
  const most = rounded(Math.max(4, ...periods.map(all)));
  const total = periods.reduce((sum, period) => ({
    allowed: sum.allowed + period.allowed, denied: sum.denied + period.denied, failed: sum.failed + period.failed }),
  { allowed: 0, denied: 0, failed: 0 });
  const readout = el('output', { class: 'readout', 'aria-live': 'polite' }, counted(total));
  const cursor = svg('rect', { class: 'cursor', y: TOP, height: FLOOR - TOP, visibility: 'hidden' });
  let step = 1;
  let chosen = -1;

  function choose(index) {
    chosen = Math.min(periods.length - 1, index);
    const period = periods[chosen];
    cursor.setAttribute('visibility', period ? 'visible' : 'hidden');
    cursor.setAttribute('x', LEFT + Math.max(0, chosen) * step);
    readout.textContent = period ? `${name(period.start, granularity)}: ${counted(period)}` : counted(total);
    readout.title = period ? utc(period.start) : '';
  }

  const drawing = svg('svg', {
    class: 'chart', height: HEIGHT, tabindex: '0', role: 'img', 'data-key': 'chart',
    'aria-label': `Requests over time: ${counted(total)}. The arrow keys read each ${granularity}.`,
    onpointermove: event => {
      const x = event.clientX - drawing.getBoundingClientRect().left;
      choose(x < LEFT ? -1 : Math.floor((x - LEFT) / step));
    },
    onpointerleave: () => choose(-1),
    onblur: () => choose(-1),
    onkeydown: event => {
      const next = { ArrowLeft: chosen < 0 ? periods.length - 1 : Math.max(0, chosen - 1),
        ArrowRight: chosen < 0 ? 0 : chosen + 1, Home: 0, End: periods.length - 1, Escape: -1 }[event.key];
      if (next !== undefined) {
        event.preventDefault();
        choose(next);
      }
    },
  });

  function draw(width) {
    step = (width - LEFT - RIGHT) / periods.length;
    cursor.setAttribute('width', step);
    drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    drawing.replaceChildren(stripes(), ...grid(width, most), cursor, ...bars(periods, step, most),
      ...labels(periods, granularity, step).filter(Boolean));
  }

  const box = el('div', { class: 'chart-box' },
    el('div', { class: 'chart-head' }, legend(total.failed > 0), readout), drawing, asTable(periods, granularity));
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.max(240, Math.round(entry.contentRect.width));
    if (width !== drawn) {
      drawn = width;
      draw(width);
    }
  }).observe(box);
  return box;
}

function legend(withFailed) {
  const sample = kind => svg('svg', { class: 'sample', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
    svg('rect', { class: kind, width: 12, height: 12, rx: 2 }));
  return el('div', { class: 'legend' },
    el('span', {}, sample('allowed'), 'Allowed'), el('span', {}, sample('denied'), 'Denied'),
    withFailed ? el('span', {}, sample('undecided'), 'Not decided by the store') : null);
}

function asTable(periods, granularity) {
  const rows = periods.filter(all).reverse();
  return el('details', { class: 'as-table' },
    el('summary', { 'data-key': 'as-table' }, 'As a table'),
    rows.length === 0 ? el('p', { class: 'empty' }, 'No requests in this time.')
      : el('div', { class: 'scroll' },
        el('table', {},
          el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Time'),
            ['Allowed', 'Denied', 'Share'].map(title => el('th', { scope: 'col', class: 'right' }, title)))),
          el('tbody', {}, rows.map(period => el('tr', {},
            el('th', { scope: 'row', title: utc(period.start) }, name(period.start, granularity)),
            el('td', { class: 'right num' }, number(period.allowed)),
            el('td', { class: 'right num' }, number(period.denied)),
            el('td', { class: 'right num' }, percent(period.denied, all(period)))))))));
}
