// What happens now, and what is wrong.

import { button, card, compact, countdown, el, empty, limitLink, link, micros, number, percent, show, since, table, tag, to, bar } from './dom.js';
import { get } from './api.js';
import { chart, ranges } from './chart.js';
import { action, reset, switchAll } from './actions.js';

/** Where to go with a warning. */
function advice(warning) {
  return warning.limit ? [' ', link(`Open ${warning.limit}`, 'limits', warning.limit)] : [];
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
    lines.push(el('li', { class: urgent ? 'bad' : 'warn' }, warning.sentence, advice(warning)));
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
    tile('Decision time', timed ? micros(timed.decisionTime.p95) : '–', 'p95, last full minute'));
}

/** A link to a subject in a list. A client may choose a long name: three lines of it are enough, and the tooltip has the rest. */
function brief(subject) {
  return el('a', { class: 'brief', href: to('subjects', subject), title: subject }, subject);
}

/** As many rows as a list shows at first; the rest on demand. */
const FEW = 8;

function subjectsTable(title, all, read, kind, none, more) {
  if (!all) {
    return null;
  }
  const rows = more.shown ? all : all.slice(0, FEW);
  const most = Math.max(1, ...rows.map(row => read(row.totals)));
  return card(title, {}, rows.length === 0 ? empty(none)
    : [table(title, [{ title: 'Subject' }, { title: 'Limit' }, { title: kind === 'denied' ? 'Denied' : 'Requests', right: true }, { title: '', spare: true }, { title: 'Last', spare: true }],
      rows.map(row => [
        brief(row.subject),
        row.limit ? limitLink(row.limit) : el('span', { class: 'muted' }, 'all'),
        compact(read(row.totals)),
        bar(read(row.totals), most, kind),
        since(row.lastRequestAt),
      ])),
    all.length <= FEW ? null : button(more.shown ? `Show ${FEW}` : `Show ${all.length}`, { class: 'small', 'data-key': `more ${title}`, 'aria-label': `${more.shown ? `Show ${FEW}` : `Show ${all.length}`}: ${title}`, onclick: more.toggle })]);
}

function penaltiesTable(page, { penalties, penaltyCount }) {
  if (!penalties) {
    return null;
  }
  return card('Active penalties', {}, penalties.length === 0 ? empty('No subject is under a penalty.')
    : [table('Active penalties', [{ title: 'Subject' }, { title: 'Limit' }, { title: 'Violations', right: true, spare: true }, { title: 'Left', right: true }, { title: '' }],
      penalties.map(penalty => [
        brief(penalty.subject),
        limitLink(penalty.limit),
        number(penalty.violations),
        penalty.until ? countdown(penalty.until) : 'no end',
        action(page, 'End …', { class: 'small', 'data-key': `end ${penalty.subject} ${penalty.limit}`, 'aria-label': `End the penalty of ${penalty.subject} on ${penalty.limit}`, done: 'The penalty is over.' },
          () => reset(penalty.subject, penalty.limit)),
      ])),
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
  return card('This instance', {}, el('dl', { class: 'facts' },
    status.store ? [
      fact('Store', [status.store.available ? tag('available', 'good') : tag(`unavailable for ${status.store.unavailableFor}`, 'bad'), ' ', shortened(status.store.name)]),
      fact('Circuit', status.store.circuit, status.store.circuit === 'closed' ? 'good' : 'bad'),
      status.store.reason ? fact('Reason', status.store.reason) : null] : null,
    status.queue ? fact('Queue', `${number(status.queue.waiting)} of ${number(status.queue.capacity)} waiting`) : null,
    status.pool ? fact('Connections', `${number(status.pool.active)} active and ${number(status.pool.idle)} idle of ${number(status.pool.capacity)}, ${number(status.pool.waiting)} waiting`) : null,
    fact('Last upkeep', status.lastUpkeepAt ? since(status.lastUpkeepAt) : 'not yet')));
}

function explained(data) {
  return Object.values(data.missing).filter((text, index, all) => all.indexOf(text) === index)
    .map(text => el('p', { class: 'note' }, text));
}

export function now(page) {
  let only = '';
  let known = [];
  const unfolded = { denied: false, busiest: false };
  const more = list => ({ shown: unfolded[list], toggle: () => { unfolded[list] = !unfolded[list]; page.refresh(); } });
  const places = Object.fromEntries(['warnings', 'tiles', 'chart', 'lists', 'missing'].map(name => [name, el('div', {})]));
  const range = ranges(() => page.refresh());
  const select = el('select', { 'aria-label': 'Requests to show', onchange: () => { only = select.value; page.refresh(); } },
    el('option', { value: '' }, 'All requests'));
  const timelineCard = card('Requests', {}, places.chart);
  timelineCard.querySelector('.card-head').append(el('div', { class: 'controls' }, select, range.choice));
  places.warnings.setAttribute('aria-live', 'polite');
  page.main.append(el('h1', { class: 'hidden' }, 'Now'), places.warnings, places.missing, places.tiles, timelineCard, places.lists);
  places.chart.append(empty('Loading …'));

  async function load() {
    const data = await get('now', { range: range.chosen(), limit: only });
    page.fresh(data);
    if (JSON.stringify(known) !== JSON.stringify(data.limits)) {
      known = data.limits;
      const more = data.limitCount - known.length;
      select.replaceChildren(el('option', { value: '' }, 'All requests'), ...known.map(name => el('option', { value: name, selected: name === only }, name)),
        ...(more > 0 ? [el('option', { disabled: true }, `${number(more)} more are under Limits`)] : []));
    }
    show(places.warnings, { status: { warnings: data.status.warnings }, problems: data.problems, problemCount: data.problemCount, enabled: data.enabled }, part => warnings(page, part));
    show(places.missing, data.missing, () => explained(data));
    show(places.tiles, { hour: data.hour, penaltyCount: data.penaltyCount, at: data.at.slice(0, 16) + ':00Z' }, tiles);
    show(places.chart, data.timeline ?? {}, timeline => (data.timeline ? chart(timeline) : empty('There is no history to show.')));
    show(places.lists, { ...data, unfolded, at: null, timeline: null, hour: null }, part => el('div', { class: 'columns' },
      el('div', { class: 'column' },
        subjectsTable('Most denied', part.mostDenied, totals => totals.throttled + totals.blocked, 'denied', 'Nobody was denied in the last hour.', more('denied')),
        penaltiesTable(page, part), instance(part)),
      el('div', { class: 'column' },
        subjectsTable('Busiest', part.busiest, totals => totals.total, 'allowed', 'No requests in the last hour.', more('busiest')))));
  }
  return { load, every: 4000 };
}
