// What happens now, and what is wrong.

import { Folded, bar, card, clock, compact, countdown, el, empty, limitLink, loading, micros, number, pageOf, percent, sentence, show, since, table, tag, time, to } from './dom.js';
import { get } from './api.js';
import { ranges, showChart } from './chart.js';
import { action, reset, switchAll } from './actions.js';
import { inWords } from './changes.js';

/** The remedy for a condition. */
const REMEDIES = {
  'store-failing': 'Check that the database runs, and that this instance reaches it. Until then, on-failure of each rule decides.',
  'queue-filling': 'Requests come faster than the store decides. Look at the load of the database, or switch off a limit that you can spare.',
  'audit-dropping': 'Entries come faster than the database takes them. Write fewer of them, as with ratelimit.audit.mode: denied.',
  'audit-failing': 'Check the database of the audit trail, and its disk.',
  'totals-failing': 'Nothing is lost. Look at the load and the rights of the audit database.',
  'users-hurt': 'Raise the limit for a time, or find out who is denied.',
  'many-offenders': 'Block the addresses of an attack. If they are ordinary users, raise the limit.',
  'violation-surge': 'Find out who is denied. Block an attacker; raise the limit for ordinary users.',
  'penalties-rising': 'Find out who is under a penalty. End those that hit ordinary users.',
  'retention-failing': 'Nothing is lost. Make room on the disk, or correct the folder of the archive.',
};

/** The list of this page that has more about a condition. */
const LISTS = {
  'store-failing': ['instance', 'Store and connections'],
  'queue-filling': ['instance', 'Store and queue'],
  'users-hurt': ['most-denied', 'Who is denied'],
  'many-offenders': ['most-denied', 'Who is denied'],
  'violation-surge': ['most-denied', 'Who is denied'],
  'penalties-rising': ['active-penalties', 'Active penalties'],
};

/** A link to a part of this page. The address stays: it names the screen. */
function jump(part, text, key) {
  return el('a', {
    href: '#/now', 'data-key': key, onclick: event => {
      event.preventDefault();
      const place = document.querySelector(`[data-part="${part}"]`);
      place?.scrollIntoView({ block: 'center' });
      place?.focus();
    },
  }, text);
}

/** Groups the digits of large numbers in a sentence, but not those of a name. */
const grouped = text => text.replace(/(?<=^|\s)(?<!\b(?:limit|rule) )\d{5,}(?=[\s,.])/gi, digits => number(Number(digits)));

/** The remedy for a warning, and the screen for it. */
function remedy({ kind, limit }) {
  const list = LISTS[kind];
  const page = limit && pageOf(limit);
  return el('div', { class: 'remedy' }, REMEDIES[kind] ?? null,
    page ? [' ', el('a', { href: to('limits', page), 'data-key': `open ${kind} ${limit}` }, `Open ${page}`)] : null,
    list ? [' ', jump(...list, `show ${kind} ${limit}`)] : null);
}

function warnings(page, { status, problems, problemCount, enabled }) {
  const lines = [];
  if (!enabled) {
    lines.push(el('li', { class: 'bad' }, el('strong', {}, 'All limits are switched off.'),
      ' Every request passes, and nothing is counted. ',
      action(page, 'Switch on …', { 'data-key': 'switch-on', done: 'Limits and rules apply again.' }, () => switchAll(true))));
  }
  for (const warning of status.warnings) {
    const urgent = ['store-failing', 'queue-filling'].includes(warning.kind);
    lines.push(el('li', { class: urgent ? 'bad' : 'warn' }, el('strong', {}, grouped(sentence(warning.sentence))), remedy(warning)));
  }
  for (const problem of problems) {
    lines.push(el('li', { class: 'warn' }, `A stored row is invalid and skipped: ${problem}`));
  }
  if (problemCount > problems.length) {
    lines.push(el('li', { class: 'warn' }, `${number(problemCount - problems.length)} more stored rows are invalid and skipped.`));
  }
  return lines.length === 0
    ? el('p', { class: 'calm' }, el('span', { class: 'mark', 'aria-hidden': 'true' }, '✓'), 'Nothing is wrong.')
    : el('ul', { class: 'warnings' }, lines);
}

function tile(label, value, more) {
  return el('div', { class: 'tile' }, el('dt', {}, label), el('dd', {}, el('span', { class: 'value num' }, value), more ? el('span', { class: 'more' }, more) : null));
}

function sum(periods, read) {
  return periods.reduce((total, period) => total + read(period.totals), 0);
}

/** Numbers of the last hour; of the last minute that is over, if requests came in it. */
function tiles({ hour, penaltyCount, at }) {
  if (!hour) {
    return null;
  }
  const denied = sum(hour.periods, totals => totals.throttled + totals.blocked);
  const total = denied + sum(hour.periods, totals => totals.allowed + totals.failed);
  const last = Math.floor(Date.parse(at) / 60_000) * 60_000 - 60_000;
  const minute = hour.periods.find(period => Date.parse(period.start) === last);
  const timed = hour.periods.filter(period => period.decisionTime && Date.parse(period.start) <= last).at(-1);
  return el('dl', { class: 'tiles' },
    tile('Last full minute', minute ? compact(minute.totals.total - minute.totals.exempt) : '0', 'requests'),
    tile('Last hour', compact(total), 'requests'),
    tile('Denied', percent(denied, total), `${compact(denied)} in the last hour`),
    tile('Penalties', penaltyCount === undefined ? '–' : compact(penaltyCount), 'active now'),
    tile('Decision time', timed ? micros(timed.decisionTime.p95) : '–',
      `p95, ${!timed || Date.parse(timed.start) === last ? 'last full minute' : `minute of ${clock(new Date(timed.start))}`}`));
}

/** A link to a subject in a list. A client may choose a long name: three lines of it are enough, and the tooltip has the rest. */
function brief(subject) {
  return el('a', { class: 'brief', href: to('subjects', subject), title: subject }, subject);
}

/** A card that a warning can lead to. */
function part(title, ...children) {
  return card(title, { tabindex: '-1', 'data-key': `part ${title}`, 'data-part': title.toLowerCase().replaceAll(' ', '-').replace('this-', '') }, ...children);
}

const denials = totals => totals.throttled + totals.blocked;
const requests = totals => totals.total;

/** One row for a subject, with the limits that count it, as one request counts on several. */
function bySubject(all, read) {
  const found = new Map();
  for (const row of all) {
    const known = found.get(row.subject) ?? { subject: row.subject, most: 0, limits: [], lastRequestAt: row.lastRequestAt };
    known.most = Math.max(known.most, read(row.totals));
    known.limits.push({ name: row.limit, number: read(row.totals) });
    known.lastRequestAt = known.lastRequestAt > row.lastRequestAt ? known.lastRequestAt : row.lastRequestAt;
    found.set(row.subject, known);
  }
  return [...found.values()].sort((a, b) => b.most - a.most);
}

/** The limits of a subject; a number only where it differs from that of the row. */
function limitsOf({ limits, most }) {
  return limits.map(({ name, number: part }, index) => [index ? ', ' : '',
    name ? limitLink(name) : el('span', { class: 'muted' }, 'all'),
    part === most ? null : el('span', { class: 'muted num' }, ` ${compact(part)}`)]);
}

function subjectsTable(title, rowsOfLimits, read, kind, none, more) {
  if (!rowsOfLimits) {
    return null;
  }
  const all = bySubject(rowsOfLimits, read);
  const rows = more.rows(all);
  const most = Math.max(1, ...rows.map(row => row.most));
  return part(title, rows.length === 0 ? empty(none)
    : [table(title, [{ title: 'Subject' }, { title: kind === 'denied' ? 'Denied' : 'Requests', right: true }, { title: '', spare: true }, { title: 'Limits' }, { title: 'Last', spare: true }],
      rows.map(row => [brief(row.subject), compact(row.most), bar(row.most, most, kind), limitsOf(row), since(row.lastRequestAt)]), 'brief-rows'),
    more.button(title, all.length)]);
}

function penaltiesTable(page, { penalties, penaltyCount }, more) {
  if (!penalties) {
    return null;
  }
  return part('Active penalties', penalties.length === 0 ? empty('No subject is under a penalty.')
    : [table('Active penalties', [{ title: 'Subject' }, { title: 'Left', right: true }, { title: 'Limit' }, { title: 'Violations', right: true, spare: true }, { title: '' }],
      more.rows(penalties).map(penalty => [
        brief(penalty.subject),
        penalty.until ? countdown(penalty.until) : 'no end',
        limitLink(penalty.limit),
        number(penalty.violations),
        action(page, 'End …', { class: 'small', 'data-key': `end ${penalty.subject} ${penalty.limit}`, 'aria-label': `End the penalty of ${penalty.subject} on ${penalty.limit}`, done: 'The penalty is over.' },
          () => reset(penalty.subject, penalty.limit)),
      ]), 'brief-rows'),
    more.button('Active penalties', penalties.length),
    penaltyCount > penalties.length ? el('p', { class: 'note rest' }, `The ${number(penalties.length)} longest of ${number(penaltyCount)}.`) : null]);
}

function fact(name, value, kind) {
  return [el('dt', {}, name), el('dd', {}, kind ? tag(value, kind) : value)];
}

/** A name without the folders in it; the tooltip has them. */
function shortened(name) {
  return el('span', { title: name }, name.replace(/\S*[/\\](?=[^/\\\s]+)/g, ''));
}

function instance({ status }) {
  if (!status) {
    return null;
  }
  return part('This instance', el('dl', { class: 'facts' },
    status.store ? [
      fact('Store', [status.store.available ? tag('available', 'good') : tag(`unavailable for ${status.store.unavailableFor}`, 'bad'), ' ', shortened(status.store.name)]),
      fact('Circuit', status.store.circuit, status.store.circuit === 'closed' ? 'good' : 'bad'),
      status.store.reason ? fact('Reason', status.store.reason) : null] : null,
    status.queue ? fact('Queue', `${number(status.queue.waiting)} of ${number(status.queue.capacity)} waiting`) : null,
    status.pool ? fact('Connections', `${number(status.pool.active)} active and ${number(status.pool.idle)} idle of ${number(status.pool.capacity)}, ${number(status.pool.waiting)} waiting`) : null,
    fact('Last upkeep', status.lastUpkeepAt ? since(status.lastUpkeepAt) : 'not yet')));
}

/** Says why parts are missing or old. */
function explained({ missing, keptFrom }) {
  return [...new Set(Object.values(missing))].map(text => el('p', { class: 'note' }, text,
    keptFrom ? [' The numbers below are older: they were read at ', time(keptFrom), '.'] : null));
}

/** The parts of the answer that can be missing while the database is gone. */
const KEPT = ['timeline', 'hour', 'mostDenied', 'busiest', 'penalties', 'penaltyCount', 'changes'];

/** Changes of limits and rules within a timeline; of one limit, if one is chosen. */
function marks({ changes = [], timeline }, only) {
  return changes.filter(({ kind, name, change }) => ['limit', 'rule'].includes(kind)
    && (!only || (kind === 'limit' && [only, '*'].includes(name))) && change.at >= timeline.from)
    .map(entry => ({ at: entry.change.at, by: entry.change.by, text: inWords(entry) }));
}

export function now(page) {
  let only = '';
  let known = [];
  let kept = {};
  let last;
  let instanceLeft; // It fills the shorter column, and stays there.
  const [denied, busiest, penalties] = [1, 2, 3].map(() => new Folded(8, 4, page.refresh));
  const places = Object.fromEntries(['warnings', 'tiles', 'chart', 'lists', 'missing'].map(name => [name, el('div', {})]));
  const choose = () => { kept = {}; page.refresh(); };
  const range = ranges(choose);
  const select = el('select', { 'aria-label': 'Requests to show', onchange: () => { only = select.value; choose(); } },
    el('option', { value: '' }, 'All requests'));
  const timelineCard = card('Requests', {}, places.chart);
  timelineCard.querySelector('.card-head').append(el('div', { class: 'controls' }, select, range.choice));
  page.main.append(el('h1', { class: 'hidden' }, 'Now'), places.warnings, places.missing, places.tiles, timelineCard, places.lists);
  places.chart.append(loading(8));

  /** While the database is gone, the last numbers stay, with their time. */
  function withKept(data) {
    const old = KEPT.filter(name => name in data.missing && kept[name] !== undefined);
    const all = { ...data, ...Object.fromEntries(old.map(name => [name, kept[name]])), keptFrom: old.length ? kept.at : undefined };
    kept = { ...Object.fromEntries(KEPT.map(name => [name, all[name]])), at: all.keptFrom ?? data.at };
    return all;
  }

  function lists() {
    const data = last;
    const rows = (list, all) => list.rows(all ?? []).length;
    instanceLeft ??= rows(denied, bySubject(data.mostDenied ?? [], denials)) + rows(penalties, data.penalties) < rows(busiest, bySubject(data.busiest ?? [], requests));
    show(places.lists, { ...data, shown: [denied, busiest, penalties].map(list => list.shown), at: null, timeline: null, hour: null, changes: null }, one => el('div', { class: 'columns' },
      el('div', { class: 'column' },
        subjectsTable('Most denied', one.mostDenied, denials, 'denied', 'Nobody was denied in the last hour.', denied),
        penaltiesTable(page, one, penalties), instanceLeft ? instance(one) : null),
      el('div', { class: 'column' },
        subjectsTable('Busiest', one.busiest, requests, 'allowed', 'No requests in the last hour.', busiest), instanceLeft ? null : instance(one))));
  }

  /** All that is known without the database. */
  function atOnce(data) {
    if (last) {
      last = { ...last, status: data.status };
      lists();
    }
    show(places.warnings, { status: { warnings: data.status.warnings }, problems: data.problems, problemCount: data.problemCount, enabled: data.enabled }, one => warnings(page, one));
  }

  async function load() {
    const [wanted, period] = [only, range.chosen()];
    const answer = await get('now', { range: period, limit: wanted });
    if (wanted !== only || period !== range.chosen()) {
      return;
    }
    page.fresh(answer);
    const data = withKept(answer);
    if (JSON.stringify(known) !== JSON.stringify(data.limits)) {
      known = data.limits;
      const others = data.limitCount - known.length;
      select.replaceChildren(el('option', { value: '' }, 'All requests'), ...known.map(name => el('option', { value: name, selected: name === only }, name)),
        ...(others > 0 ? [el('option', { disabled: true }, `${number(others)} more are under Limits`)] : []));
    }
    last = data;
    atOnce(data);
    show(places.missing, { missing: data.missing, keptFrom: data.keptFrom }, explained);
    show(places.tiles, { hour: data.hour, penaltyCount: data.penaltyCount, at: (data.keptFrom ?? data.at).slice(0, 16) + ':00Z' }, tiles);
    if (data.timeline) {
      showChart(places.chart, data.timeline, marks(data, only));
    } else {
      show(places.chart, null, () => empty('The history cannot be read now.'));
    }
  }
  return { load, atOnce, every: 4000 };
}
