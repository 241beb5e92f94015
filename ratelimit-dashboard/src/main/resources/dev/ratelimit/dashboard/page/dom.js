// Builds elements. Values from the server only ever become text or attributes, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (name === 'value') {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A path to a screen; its parts are escaped. */
export function to(...parts) {
  return '#/' + parts.map(encodeURIComponent).join('/');
}

/** A link to a screen. */
export function link(text, ...parts) {
  return el('a', { href: to(...parts) }, text);
}

/** These limits have no page of their own: quotas, and the limit for strangers at the dashboard. */
const WITHOUT_PAGE = ['quota', 'dashboard-strangers'];

/** The limit whose page tells about a limit: login for login:address, which is derived from it. Undefined if there is none. */
export function pageOf(limit) {
  const [base] = limit.split(':');
  return WITHOUT_PAGE.includes(base) ? undefined : base;
}

/** A link to the page of a limit, if there is one. */
export function limitLink(name) {
  return pageOf(name) ? link(name, 'limits', pageOf(name)) : name;
}

const keyOf = node => node.dataset.key ?? `${node.tagName} ${node.getAttribute('href')} ${node.textContent}`;

/** What takes the focus in a place, and is the same as a node that may be older. */
function sameAs(place, node) {
  return [...place.querySelectorAll('a[href], button, summary, [tabindex]')].filter(one => keyOf(one) === keyOf(node));
}

/** Fills a place anew if its data changed. The focus stays where it was, and what was unfolded stays so. */
export function show(place, data, render) {
  const text = JSON.stringify(data) ?? '';
  if (place.shownData === text) {
    return;
  }
  place.shownData = text;
  const focused = place.contains(document.activeElement) ? document.activeElement : undefined;
  const index = focused ? sameAs(place, focused).indexOf(focused) : -1;
  const unfolded = place.querySelector('details')?.open;
  place.replaceChildren(...[render(data)].flat(Infinity).filter(Boolean));
  if (unfolded && place.querySelector('details')) {
    place.querySelector('details').open = true;
  }
  if (focused) {
    const same = sameAs(place, focused);
    (same[index] ?? same[0])?.focus({ preventScroll: true });
  }
}

/** A text as a sentence: servers answer with clauses. */
export function sentence(text) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

// Numbers

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const number = value => whole.format(value);
export const compact = value => (Math.abs(value) < 10_000 ? whole.format(value) : short.format(value));

/** A number with its noun: 1 violation, 2 violations. */
export const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? '' : 's'}`;

export function percent(part, all) {
  if (!all) {
    return '0\u00a0%';
  }
  const share = (100 * part) / all;
  return (share > 0 && share < 0.1 ? '< 0.1' : share < 10 ? share.toFixed(1).replace(/\.0$/, '') : Math.round(share)) + '\u00a0%';
}

export function micros(value) {
  return value < 1000 ? `${value} µs` : value < 1_000_000 ? `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} ms`
    : `${(value / 1_000_000).toFixed(1)} s`;
}

// Times: in the zone of the browser, with UTC in the tooltip. Countdowns follow the clock of the server.

let ahead = 0;

/** Tells the time of the server. */
export function serverTime(instant) {
  ahead = Date.parse(instant) - Date.now();
}

export const now = () => Date.now() + ahead;

const pad = value => String(value).padStart(2, '0');

export const clock = date => `${pad(date.getHours())}:${pad(date.getMinutes())}`;

export function day(date) {
  return date.toLocaleDateString('en', { day: 'numeric', month: 'short' });
}

/** The day that begins at that moment in UTC. West of it, that moment is on the day before. */
export function utcDay(date) {
  return date.toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

function moment(date) {
  const current = new Date(now());
  const time = `${clock(date)}:${pad(date.getSeconds())}`;
  if (date.toDateString() === current.toDateString()) {
    return time;
  }
  const year = date.getFullYear() === current.getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${day(date)}${year}, ${time.slice(0, 5)}`;
}

export const utc = date => date.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');

/** A moment. */
export function time(instant) {
  const date = new Date(instant);
  return el('time', { datetime: instant, title: utc(date) }, moment(date));
}

/** Seconds in words of at most two units. */
export function duration(seconds) {
  const total = Math.max(0, Math.ceil(seconds));
  for (const [size, unit, smaller, rest] of [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'min'], [60, 'min', 1, 's']]) {
    if (total >= size) {
      const more = Math.floor((total % size) / smaller);
      return `${Math.floor(total / size)} ${unit}${more ? ` ${more} ${rest}` : ''}`;
    }
  }
  return `${total} s`;
}

const left = instant => (Date.parse(instant) - now()) / 1000;

/** The time that is left, counted down live. */
export function countdown(instant, over = 'over') {
  const date = new Date(instant);
  return el('time', { datetime: instant, title: `until ${utc(date)}`, 'data-until': instant, 'data-over': over, class: 'num' },
    left(instant) > 0 ? duration(left(instant)) : over);
}

/** A time that is over, in one unit: nobody reads the seconds of an hour. */
function ago(instant) {
  const seconds = Math.max(0, -left(instant));
  const [size, unit] = [[86400, 'd'], [3600, 'h'], [60, 'min']].find(([one]) => seconds >= one) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** The time since then, counted live. */
export function since(instant) {
  const date = new Date(instant);
  return el('time', { datetime: instant, title: utc(date), 'data-since': instant }, ago(instant));
}

/** A moment to come, with the time that is left. */
export function ending(instant) {
  return [time(instant), left(instant) > 0 ? [' (', countdown(instant, 'over'), ')'] : null];
}

setInterval(() => {
  for (const node of document.querySelectorAll('[data-until]')) {
    const seconds = left(node.dataset.until);
    const text = seconds > 0 ? duration(seconds) : node.dataset.over;
    if (node.textContent !== text) {
      node.textContent = text;
    }
  }
  for (const node of document.querySelectorAll('[data-since]')) {
    const text = ago(node.dataset.since);
    if (node.textContent !== text) {
      node.textContent = text;
    }
  }
}, 1000);

// Parts of screens

export function empty(text, ...more) {
  return el('p', { class: 'empty' }, text, ...more);
}

/** Grey lines in the place of data that is on its way. */
export function loading(lines = 4) {
  return el('div', { class: 'loading' }, el('p', { class: 'hidden' }, 'Loading …'), Array.from({ length: lines }, () => el('div', { class: 'loading-line' })));
}

export function card(title, attributes, ...children) {
  const id = 'h-' + title.toLowerCase().replace(/[^a-z]+/g, '-');
  return el('section', { class: 'card', 'aria-labelledby': id, ...attributes },
    el('div', { class: 'card-head' }, el('h2', { id }, title)), ...children);
}

/**
 * A table whose rows become blocks on a phone. Numbers are aligned to the right; a spare column is for wide screens.
 *
 * @param kind of a list of a few short columns: brief blocks of two lines
 */
export function table(caption, columns, rows, kind = '') {
  return el('div', { class: 'scroll' },
    el('table', { class: `rows ${kind}`, role: 'table' },
      el('caption', { class: 'hidden' }, caption),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, columns.map(({ title, right, spare }) =>
        el('th', { scope: 'col', role: 'columnheader', class: [right ? 'right' : '', spare ? 'spare' : ''].join(' ') }, title)))),
      el('tbody', { role: 'rowgroup' }, rows.map(row => el('tr', { role: 'row' }, row.map((cell, index) => {
        const { title, right, spare } = columns[index];
        const content = [cell].flat(Infinity).filter(part => part !== null && part !== undefined && part !== false && part !== '');
        return el(index === 0 ? 'th' : 'td', {
          scope: index === 0 ? 'row' : undefined,
          role: index === 0 ? 'rowheader' : 'cell',
          'data-title': title,
          class: [right ? 'right num' : '', spare ? 'spare' : ''].join(' '),
        }, content.length ? el('div', { class: 'cell' }, content) : null);
      }))))));
}

const PHONE = matchMedia('(max-width: 600px)');

/** The beginning of a list, and the rest on demand. A phone shows less. */
export class Folded {
  #most;
  #mostOnPhone;
  #redraw;
  #unfolded = false;

  constructor(most, mostOnPhone, redraw) {
    this.#most = most;
    this.#mostOnPhone = mostOnPhone;
    this.#redraw = redraw;
  }

  get #few() {
    return PHONE.matches ? this.#mostOnPhone : this.#most;
  }

  /** As many rows as are shown. It belongs to the data of a place. */
  get shown() {
    return this.#unfolded ? 'all' : this.#few;
  }

  rows(all) {
    return this.#unfolded ? all : all.slice(0, this.#few);
  }

  /** Shows the rest, or the beginning only; nothing for a short list. */
  button(title, count) {
    if (count <= this.#few) {
      return null;
    }
    const text = `Show ${number(this.#unfolded ? this.#few : count)}`;
    return button(text, {
      class: 'small', 'data-key': `more ${title}`, 'aria-label': `${text}: ${title}`,
      onclick: () => { this.#unfolded = !this.#unfolded; this.#redraw(); },
    });
  }
}

/** A share as a bar; the text beside it says the same. */
export function bar(part, all, kind) {
  const share = all ? Math.min(1, part / all) : 0;
  return svg('svg', { class: `bar ${kind ?? ''}`, viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'bar-all', width: 100, height: 6 }),
    svg('rect', { class: 'bar-part', width: (100 * share).toFixed(2), height: 6 }));
}

/** A word with a mark before it, so that its colour is not the only signal. */
export function tag(text, kind) {
  const marks = { good: '✓', bad: '✕', warn: '!', off: '○', info: 'i' };
  return el('span', { class: `tag ${kind}` }, el('span', { class: 'mark', 'aria-hidden': 'true' }, marks[kind] ?? '•'), text);
}

export function button(text, attributes) {
  return el('button', { type: 'button', ...attributes }, text);
}
