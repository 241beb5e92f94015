// Requests over time as bars: allowed below, denied above with stripes, so that colour is not the only difference. Changes by
// operators are marked, and a line says how many a trial would deny.

import { button, clock, compact, day, el, number, percent, show, svg, utc, utcDay } from './dom.js';

const HEIGHT = 222;
const LEFT = 44;
const RIGHT = 4;
const TOP = 22;
const BOTTOM = 24;
const FLOOR = HEIGHT - BOTTOM;

const LENGTH = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const denials = ({ throttled, blocked }) => throttled + blocked;

/** All periods from the first to the last, those without requests included, each with its changes and the denials of a trial. */
function complete({ granularity, from, until, periods }, marks, trial) {
  const length = LENGTH[granularity];
  const known = new Map(periods.map(period => [Date.parse(period.start), period]));
  const tried = new Map((trial?.periods ?? []).map(period => [Date.parse(period.start), period]));
  const found = [];
  for (let start = Math.ceil(Date.parse(from) / length) * length; start <= Date.parse(until); start += length) {
    const totals = known.get(start)?.totals;
    found.push({
      start: new Date(start),
      allowed: totals?.allowed ?? 0,
      denied: totals ? denials(totals) : 0,
      failed: totals?.failed ?? 0,
      tried: trial ? denials(tried.get(start)?.totals ?? { throttled: 0, blocked: 0 }) : undefined,
      marks: marks.filter(({ at }) => Math.floor(Date.parse(at) / length) * length === start),
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
  return allowed + denied + failed === 0 ? 'no requests' : `${number(allowed)} allowed, ${number(denied)} denied`
    + ` (${percent(denied, allowed + denied + failed)})`
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

/** A line at each change, at its moment. */
function changes(periods, step, granularity) {
  return periods.flatMap((period, index) => period.marks.map(({ at }) => {
    const x = (LEFT + step * (index + (Date.parse(at) - period.start) / LENGTH[granularity])).toFixed(1);
    return svg('g', { class: 'change' },
      svg('line', { x1: x, x2: x, y1: TOP - 8, y2: FLOOR }), svg('path', { d: `M${x} ${TOP - 2}l-5 -8h10z` }));
  }));
}

/** The denials of a trial as steps. */
function trialLine(periods, step, most) {
  if (periods.every(period => period.tried === undefined)) {
    return null;
  }
  const high = value => (FLOOR - (Math.min(most, value) / most) * (FLOOR - TOP)).toFixed(1);
  return svg('path', { class: 'tried', d: periods.map((period, index) =>
    `${index ? 'V' : `M${LEFT} `}${high(period.tried)}H${(LEFT + step * (index + 1)).toFixed(1)}`).join('') });
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

/** What happened in a period, beside the pointer. */
function tip(period, granularity) {
  const line = (kind, text, value) => el('li', {}, sample(kind), el('span', {}, text), el('strong', { class: 'num' }, value));
  const total = all(period);
  return [
    el('p', { class: 'tip-time' }, name(period.start, granularity)),
    total === 0 ? el('p', {}, 'No requests') : el('ul', {},
      line('allowed', 'Allowed', number(period.allowed)),
      line('denied', 'Denied', period.denied ? `${number(period.denied)} (${percent(period.denied, total)})` : '0'),
      period.failed ? line('undecided', 'Not decided by the store', number(period.failed)) : null,
      period.tried === undefined ? null : line('tried', 'The trial would deny', number(period.tried))),
    period.marks.map(({ by, text }) => el('p', { class: 'tip-change' }, el('strong', {}, by), ` ${text}`)),
  ].flat(Infinity).filter(Boolean);
}

/**
 * Draws the periods of a timeline. The arrow keys walk through them.
 *
 * @param marks changes by operators, each with its moment, its author and its text
 * @param trial the timeline of a trial, or undefined
 */
function chart(timeline, marks, trial) {
  const { granularity } = timeline;
  const periods = complete(timeline, marks, trial);
  const most = rounded(Math.max(4, ...periods.map(period => Math.max(all(period), period.tried ?? 0))));
  const total = periods.reduce((sum, period) => ({
    allowed: sum.allowed + period.allowed, denied: sum.denied + period.denied, failed: sum.failed + period.failed }),
  { allowed: 0, denied: 0, failed: 0 });
  const readout = el('output', { class: 'readout', 'aria-live': 'polite' }, counted(total));
  const cursor = svg('rect', { class: 'cursor', y: TOP, height: FLOOR - TOP, visibility: 'hidden' });
  const beside = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
  let step = 1;
  let drawn = 0;
  let chosen = -1;

  function choose(index) {
    chosen = Math.min(periods.length - 1, index);
    const period = periods[chosen];
    cursor.setAttribute('visibility', period ? 'visible' : 'hidden');
    cursor.setAttribute('x', LEFT + Math.max(0, chosen) * step);
    readout.textContent = period ? `${name(period.start, granularity)}: ${counted(period)}${period.marks.map(({ by, text }) => `. ${by} ${text}`).join('')}` : counted(total);
    readout.title = period ? utc(period.start) : '';
    beside.hidden = !period;
    if (period) {
      beside.replaceChildren(...tip(period, granularity));
      const middle = LEFT + (chosen + 0.5) * step;
      const left = middle > drawn / 2;
      beside.style.left = left ? 'auto' : `${middle + step / 2 + 8}px`;
      beside.style.right = left ? `${drawn - middle + step / 2 + 8}px` : 'auto';
    }
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
    drawn = width;
    step = (width - LEFT - RIGHT) / periods.length;
    cursor.setAttribute('width', step);
    drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    drawing.replaceChildren(...[stripes(), grid(width, most), svg('text', { class: 'axis', x: 0, y: 9 }, `Requests per ${granularity}`), cursor,
      bars(periods, step, most), trialLine(periods, step, most), changes(periods, step, granularity), labels(periods, granularity, step),
      periods.some(all) ? null : svg('text', { class: 'axis nothing', x: (LEFT + width) / 2, y: TOP + (FLOOR - TOP) * 0.375 + 5, 'text-anchor': 'middle' }, 'No requests in this time')]
      .flat().filter(Boolean));
    choose(chosen);
  }

  const box = el('div', { class: 'chart-box' },
    el('div', { class: 'chart-head' }, legend(total.failed > 0, periods.some(({ marks: some }) => some.length), Boolean(trial)), readout),
    el('div', { class: 'plot' }, drawing, beside), asTable(periods, granularity));
  new ResizeObserver(([entry]) => {
    const width = Math.max(240, Math.round(entry.contentRect.width));
    if (width !== drawn) {
      draw(width);
    }
  }).observe(box);
  return Object.assign(box, {
    chosenStart: () => periods[chosen]?.start.getTime(),
    choose: start => choose(periods.findIndex(period => period.start.getTime() === start)),
  });
}

/** Shows a chart, or the newer one: what the pointer or the arrow keys chose stays chosen. */
export function showChart(place, timeline, marks = [], trial = undefined) {
  show(place, { timeline, marks, trial }, () => {
    const start = place.querySelector('.chart-box')?.chosenStart();
    const box = chart(timeline, marks, trial);
    if (start !== undefined) {
      box.choose(start);
    }
    return box;
  });
}

function sample(kind) {
  return svg('svg', { class: 'sample', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
    kind === 'tried' ? svg('path', { class: kind, d: 'M0 8h6v-4h6' })
      : kind === 'change' ? svg('g', { class: kind }, svg('path', { d: 'M6 11l-5 -8h10z' }))
        : svg('rect', { class: kind, width: 12, height: 12, rx: 2 }));
}

function legend(withFailed, withChanges, withTrial) {
  const entry = (kind, text) => el('span', {}, sample(kind), text);
  return el('div', { class: 'legend' },
    entry('allowed', 'Allowed'), entry('denied', 'Denied'),
    withFailed ? entry('undecided', 'Not decided by the store') : null,
    withTrial ? entry('tried', 'The trial would deny') : null,
    withChanges ? entry('change', 'Change by an operator') : null);
}

function asTable(periods, granularity) {
  const rows = periods.filter(period => all(period) || period.tried || period.marks.length).reverse();
  const columns = [
    ['Allowed', period => number(period.allowed)],
    ['Denied', period => number(period.denied)],
    ['Share', period => percent(period.denied, all(period))],
    ...(periods.some(period => period.tried !== undefined) ? [['The trial would deny', period => number(period.tried)]] : []),
  ];
  return el('details', { class: 'as-table' },
    el('summary', { 'data-key': 'as-table' }, 'As a table'),
    rows.length === 0 ? el('p', { class: 'empty' }, 'No requests in this time.')
      : el('div', { class: 'scroll' },
        el('table', {}, el('caption', { class: 'hidden' }, `Requests per ${granularity}`),
          el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Time'), columns.map(([title]) => el('th', { scope: 'col', class: 'right' }, title)))),
          el('tbody', {}, rows.map(period => el('tr', {},
            el('th', { scope: 'row', title: utc(period.start) }, name(period.start, granularity), period.marks.map(({ by, text }) => el('div', { class: 'muted' }, `${by} ${text}`))),
            columns.map(([, read]) => el('td', { class: 'right num' }, read(period)))))))));
}
