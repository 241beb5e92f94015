// Where a user, an address or an API key stands.

import { Folded, bar, card, countdown, counted, el, empty, ending, limitLink, link, loading, number, show, since, table, tag, time, to } from './dom.js';
import { get } from './api.js';
import { ranges, showChart } from './chart.js';
import { action, block, reset, unblock } from './actions.js';

const OUTCOMES = { allowed: 'good', throttled: 'bad', blocked: 'bad', exempt: 'info', unknown: 'off', unknown_api_key: 'bad', failed_open: 'warn', failed_closed: 'bad' };

export const outcome = word => tag(word.replaceAll('_', ' '), OUTCOMES[word] ?? 'info');

function count(standing) {
  const used = standing.count;
  if (!used) {
    return el('span', { class: 'muted' }, 'unknown');
  }
  if (used.used === null || used.capacity === null) {
    return el('span', { class: 'muted' }, used.capacity === null ? `${number(used.used ?? 0)} used, no restriction` : 'hidden during the penalty');
  }
  return [el('span', { class: 'num' }, `${number(used.used)} of ${number(used.capacity)}`),
    bar(used.used, used.capacity, used.remaining === 0 ? 'denied' : 'allowed')];
}

function again(standing) {
  if (standing.penalty?.active) {
    return [tag('penalty', 'bad'), ' ', standing.penalty.until ? countdown(standing.penalty.until) : 'no end',
      el('div', { class: 'muted' }, counted(standing.penalty.violations, 'violation'))];
  }
  return [standing.count && standing.count.used > 0 ? countdown(standing.count.resetAt, 'now') : null,
    standing.penalty ? el('div', { class: 'muted' }, `${counted(standing.penalty.violations, 'violation')} remembered`) : null];
}

/** @param blocked whether all requests are rejected before a limit is asked */
function standings(page, view, blocked, few) {
  if (view.limits.length === 0) {
    return empty('No limit has counted this subject lately.');
  }
  return [table('Limits', [{ title: 'Limit' }, { title: 'Next request' }, { title: 'Used' }, { title: 'Resets in' }, { title: 'Last request' }, { title: '' }],
    few.rows(mostUsedFirst(view.limits)).map(standing => [
      [limitLink(standing.limit), standing.trial ? [' ', tag('trial', 'info')] : null,
        standing.subject === view.subject ? null : el('div', {}, link(standing.subject, 'subjects', standing.subject))],
      outcome(blocked ? 'blocked' : standing.outcome),
      el('div', { class: 'use' }, count(standing)),
      again(standing),
      standing.lastRequestAt ? since(standing.lastRequestAt) : '',
      action(page, 'Reset …', { class: 'small', 'data-key': `reset ${standing.limit} ${standing.subject}`, 'aria-label': `Reset ${standing.limit}`, done: 'Reset on all instances.' }, () => reset(standing.subject, standing.limit.startsWith('quota') ? 'quota' : standing.limit)),
    ])), few.button('Limits', view.limits.length)];
}

/** Limits that deny come first, and those that were never used last. */
function mostUsedFirst(limits) {
  const share = ({ outcome: word, count: used }) => (OUTCOMES[word] === 'bad' ? 2 : used?.capacity ? (used.used ?? 0) / used.capacity : 0);
  return [...limits].sort((one, other) => share(other) - share(one));
}

/** The limits in the chart of a subject. Each counts on its own: a sum over them would count a request several times. */
function inChart(limit) {
  return limit === '' ? 'Blocked without a limit' : limit;
}

function entries(audit, siblings, few) {
  if (audit.length === 0) {
    return empty('The audit trail has no entry of the last 24 hours.',
      siblings.length ? [' Look also under ', siblings.map((one, index) => [index ? ', ' : '', link(one, 'subjects', one)]), '.'] : null);
  }
  return [table('Recent requests', [{ title: 'When' }, { title: 'Outcome' }, { title: 'Request' }, { title: 'Limit or rule' }, { title: 'Sender' }],
    few.rows(audit).map(entry => [
      time(entry.at),
      [outcome(entry.decision), entry.requests > 1 ? el('span', { class: 'muted num' }, ` × ${number(entry.requests)}`) : null],
      [el('code', {}, [entry.what.method, entry.what.endpoint].filter(Boolean).join(' ') || '–'), entry.what.status ? el('span', { class: 'muted num' }, ` ${entry.what.status}`) : null],
      [entry.cause.limit ? limitLink(entry.cause.limit) : entry.cause.rule ?? '',
        entry.cause.capacity ? el('span', { class: 'muted num' }, ` ${number(entry.cause.count)} of ${number(entry.cause.capacity)}`) : null],
      [entry.who.user, entry.who.address].filter(Boolean).join(', '),
    ])), few.button('Recent requests', audit.length)];
}

function keys(view) {
  return card('API keys', {}, table('API keys', [{ title: 'Name' }, { title: 'Id' }, { title: 'State' }, { title: 'Tier' }, { title: 'Requests', right: true }, { title: 'Last used' }],
    view.apiKeys.map(key => [key.name, el('code', {}, key.id), tag(key.state, key.state === 'active' ? 'good' : 'off'), key.tier ?? '', number(key.requests), key.lastUsedAt ? since(key.lastUsedAt) : 'never'])));
}

function head(page, { subject: view, block: blocked, canBlock }) {
  const byRange = blocked?.subject && blocked.subject !== view.subject;
  return [
    el('h1', { class: 'text' }, view.subject),
    blocked ? tag('blocked', 'bad') : null,
    el('p', { class: 'lead' }, `Tier ${view.tier}, from ${view.tierFrom}.`),
    blocked ? el('p', { class: 'blocked' }, 'Blocked', byRange ? [' with ', link(blocked.subject, 'subjects', blocked.subject)] : null, blocked.until ? [' for another ', countdown(blocked.until)] : ' without an end', blocked.reason ? `: ${blocked.reason}` : '.') : null,
    el('div', { class: 'buttons' },
      !canBlock ? null : blocked ? action(page, 'Unblock …', { class: 'primary', 'data-key': 'unblock', done: 'Unblocked on all instances.' }, () => unblock(blocked.subject ?? view.subject))
        : action(page, 'Block …', { 'data-key': 'block', done: 'Blocked on all instances.' }, () => block(view.subject)),
      view.limits.length ? action(page, 'Reset all limits …', { 'data-key': 'reset-all', done: 'Reset on all instances.' }, () => reset(view.subject)) : null,
      el('a', { class: 'button', href: to('explain', view.user ? `user:${view.user}` : view.subject), 'data-key': 'explain' }, 'Explain a request')),
  ];
}

/** All that operators have blocked. */
function blocksTable(page, { blocks, more }, few) {
  return card('Blocked', {}, blocks.length === 0 ? empty('No user and no address is blocked.')
    : [table('Blocked', [{ title: 'Subject' }, { title: 'Why' }, { title: 'Who' }, { title: 'Until' }, { title: '' }],
      few.rows(blocks).map(({ subject, reason, by, until }) => [
        link(subject, 'subjects', subject),
        reason ?? el('span', { class: 'muted' }, 'no reason given'),
        by ?? '',
        until ? ending(until) : el('span', { class: 'muted' }, 'no end'),
        action(page, 'Unblock …', { class: 'small', 'data-key': `unblock ${subject}`, 'aria-label': `Unblock ${subject}`, done: 'Unblocked on all instances.' }, () => unblock(subject)),
      ])), few.button('Blocked', blocks.length),
    more ? el('p', { class: 'note rest' }, `The first ${number(blocks.length)} are shown.`) : null]);
}

/** The kind before the name of a subject, such as user: or ip:. */
const KIND = /^[a-z][a-z0-9-]*:(?=.)/;

/** Other subjects of the same name: failed logins are counted for a name, as it was written, and other requests for a user. */
async function siblingsOf(subject) {
  const name = subject.replace(KIND, '');
  const { subjects: found } = await get('subjects', { prefix: name });
  return found.filter(one => one !== subject && one.replace(KIND, '').toLowerCase() === name.toLowerCase());
}

/** A user may be blocked, or have a quota, without a count: the name that was written is offered in any case. */
function withExact({ subjects: found, exact }) {
  return found.includes(exact) ? found : [...found, exact];
}

export function subjects(page, text) {
  const found = el('div', { 'aria-live': 'polite' });
  const input = el('input', { type: 'search', id: 'search', value: text ?? '', autocomplete: 'off', spellcheck: 'false', placeholder: 'alice, 203.0.113.7, user:al …', 'aria-describedby': 'search-help' });
  const form = el('form', { class: 'search', role: 'search', onsubmit: event => { event.preventDefault(); search(); } },
    el('label', { for: 'search' }, 'User, address or API key'), el('div', { class: 'search-row' }, input, el('button', { type: 'submit', class: 'primary' }, 'Search')),
    el('p', { class: 'help', id: 'search-help' }, 'The beginning is enough. Write user:, ip: or api-key: before it to search one kind only.'));
  page.main.append(el('h1', { class: text === undefined ? '' : 'hidden' }, 'Subjects'), form, found);

  async function search() {
    const prefix = input.value.trim();
    if (!prefix) {
      found.replaceChildren();
      return;
    }
    found.replaceChildren(loading());
    try {
      const data = await get('subjects', { prefix });
      page.fresh(data);
      found.replaceChildren(card('Found', {}, data.subjects.length === 0
        ? empty(`No limit has counted a subject that begins with “${prefix}”. `, el('a', { href: to('subjects', data.exact) }, `Show ${data.exact} anyway`))
        : [el('ul', { class: 'found' }, withExact(data).map(subject => el('li', {}, link(subject, 'subjects', subject)))),
          data.more ? el('p', { class: 'note rest' }, `More than ${data.subjects.length} subjects begin like that. Write more of the name.`) : null]));
    } catch (failure) {
      found.replaceChildren(el('p', { class: 'error', role: 'alert' }, failure.message));
    }
  }

  if (text === undefined) {
    found.append(empty('The most denied and the busiest subjects, and those under a penalty, are on ', link('Now', 'now'), '.'));
    const [blocked, few] = [el('div', {}), new Folded(50, 8, page.refresh)];
    page.main.append(blocked);
    const load = async () => {
      const data = await get('blocks').catch(failure => {
        if (failure.status !== 404) {
          throw failure;
        }
        return get('health');
      });
      page.fresh(data);
      show(blocked, [data.blocks, data.more, few.shown], () => (data.blocks ? blocksTable(page, data, few) : null));
    };
    return { load, every: 5000 };
  }
  const health = async () => page.fresh(await get('health'));
  if (!KIND.test(text)) {
    search();
    return { load: health, every: 10_000 };
  }
  let noSubject = false;
  let siblings;
  const few = new Folded(15, 8, page.refresh);
  const fewLimits = new Folded(8, 4, page.refresh);
  const [top, first, second, third, requests] = [el('div', { class: 'page-head' }), el('div', {}), el('div', {}), el('div', {}), el('div', {})];
  let only;
  let timelines = [];
  const select = el('select', { 'aria-label': 'Limit to show', onchange: () => { only = select.value; draw(); } });
  const range = ranges(page.refresh);
  const timelineCard = card('Requests over time', {}, requests,
    el('p', { class: 'note help' }, 'Only the times in which it was denied, or among the busiest subjects, are known.'));
  timelineCard.querySelector('.card-head').append(el('div', { class: 'controls' }, select, range.choice));
  const parts = [top, card('Limits', {}, first), timelineCard, third, card('Recent requests', {}, second)];
  page.main.append(...parts);
  for (const place of [first, requests, second]) {
    place.append(loading());
  }

  function draw() {
    const shown = timelines.find(({ limit }) => limit === only) ?? timelines[0];
    select.hidden = timelines.length === 0;
    show(select, [timelines.map(({ limit }) => limit), shown?.limit], () =>
      timelines.map(({ limit }) => el('option', { value: limit, selected: limit === shown.limit }, inChart(limit))));
    if (shown) {
      showChart(requests, shown);
    }
  }

  async function load() {
    const wanted = range.chosen();
    const data = noSubject ? null : await get('subject', { text, range: wanted }).catch(failure => {
      if (failure.status !== 422) {
        throw failure;
      }
      return null;
    });
    if (!data) { // The text is no subject, so it is searched. A long name is shortened in its subject, which the search finds.
      if (!noSubject) {
        noSubject = true;
        input.value = text.replace(/^user:/, '');
        parts.forEach(part => part.remove());
        search();
      }
      await health();
      return;
    }
    page.fresh(data);
    if (data.audit?.length === 0) {
      siblings ??= await siblingsOf(data.subject.subject).catch(() => []);
    }
    show(top, { subject: data.subject, block: data.block, canBlock: data.canBlock }, part => head(page, part));
    show(first, [data.subject, Boolean(data.block), fewLimits.shown], ([view, blocked]) => standings(page, view, blocked, fewLimits));
    if (wanted === range.chosen()) {
      timelines = data.timelines ?? [];
      draw();
      if (timelines.length === 0) {
        show(requests, data.missing?.timelines ?? '', why => empty(why || 'No requests of this time are known.'));
      }
    }
    show(third, data.subject.apiKeys, all => (all.length ? keys(data.subject) : null));
    show(second, [data.audit ?? data.missing, few.shown], () => (data.audit ? entries(data.audit, siblings ?? [], few) : empty(data.missing.audit)));
  }
  return { load, every: 3000 };
}
