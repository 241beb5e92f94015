// Who changed what, when and why.

import { card, el, empty, limitLink, link, show, table, time } from './dom.js';
import { get } from './api.js';
import { changedProperties } from './actions.js';

/** The words of an action, such as roll-back. */
const words = text => text.replaceAll('-', ' ');

function target({ kind, name }) {
  switch (kind) {
    case 'limit': return name === '*' ? 'all limits' : link(name, 'limits', name);
    case 'rule': return ['rule ', link(name, 'limits', `rule ${name}`)];
    case 'user': case 'quota': return [kind === 'quota' ? 'quota of ' : '', link(name, 'subjects', `user:${name}`)];
    case 'subject': return link(name, 'subjects', name);
    case 'api-key': return ['API key ', link(name, 'subjects', `api-key:${name}`)];
    default: return [`${words(kind)} `, name];
  }
}

function read(json) {
  try {
    const value = JSON.parse(json ?? '{}');
    return value && typeof value === 'object' ? value : {};
  } catch {
    return {};
  }
}

/** The values of a JSON object as texts, those of inner objects with their path. */
function flat(value, prefix = '', found = {}) {
  for (const [name, inner] of Object.entries(value)) {
    if (inner && typeof inner === 'object') {
      flat(inner, `${prefix}${name}.`, found);
    } else if (inner !== null) {
      found[prefix + name] = String(inner);
    }
  }
  return found;
}

/** These have columns of their own, or stand in the sentence. */
const SAID = ['blocked-until', 'reason', 'limit'];

function difference(change) {
  const [before, after] = [flat(read(change.before)), flat(read(change.after))];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(name => before[name] !== after[name] && !SAID.includes(name));
  return names.length === 0 ? null : changedProperties(names.map(name => ({ name, before: before[name], after: after[name] })));
}

/** The limits on which a subject was reset. */
function where(change) {
  const { limit } = { ...read(change.before), ...read(change.after) };
  return change.kind === 'subject' && typeof limit === 'string'
    ? limit.split(', ').map((name, index) => [index ? ', ' : ' on ', limitLink(name)]) : null;
}

/** Nothing can end these by itself. */
const AT_ONCE = ['remove', 'unblock', 'reset', 'clear-penalty', 'note', 'create', 'revoke', 'back-up', 'run'];

function end({ action, change }) {
  return change.until ? time(change.until) : AT_ONCE.includes(action) ? '' : el('span', { class: 'muted' }, 'no end');
}

export function changes(page) {
  const list = el('div', {});
  const filter = el('input', { type: 'search', id: 'filter', autocomplete: 'off', spellcheck: 'false', oninput: () => draw() });
  let all = [];
  const frame = card('What operators changed while running', {}, list);
  frame.querySelector('.card-head').append(el('div', { class: 'controls' }, el('label', { for: 'filter' }, 'Filter'), filter));
  page.main.append(el('h1', { class: 'hidden' }, 'Changes'), frame);
  list.append(empty('Loading …'));

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    show(list, all.filter(change => JSON.stringify(change).toLowerCase().includes(wanted)), rows => (rows.length === 0
      ? empty(all.length === 0 ? 'Nothing was changed while the application ran: the configuration applies.' : 'No change contains that.')
      : table('Changes', [{ title: 'When' }, { title: 'Who' }, { title: 'What' }, { title: 'Why' }, { title: 'Until' }],
        rows.map(entry => [
          time(entry.change.at), el('strong', {}, entry.change.by),
          [`${words(entry.action)} `, target(entry), where(entry), difference(entry)],
          entry.change.reason ?? el('span', { class: 'muted' }, 'no reason given'),
          end(entry),
        ]))));
  }

  async function load() {
    const data = await get('changes');
    page.fresh(data);
    all = data.changes;
    draw();
  }
  return { load, every: 5000 };
}
