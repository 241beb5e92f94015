// Who changed what, when and why.

import { Folded, button, card, counted, el, empty, ending, limitLink, link, loading, now, show, table, time } from './dom.js';
import { get } from './api.js';
import { action, changedProperties, undo } from './actions.js';

/** What an operator did, for each action. */
const DID = {
  'set': 'changed', 'remove': 'returned to the configuration:', 'roll-back': 'rolled back', 'switch-off': 'switched off', 'switch-on': 'switched on',
  'block': 'blocked', 'unblock': 'unblocked', 'reset': 'reset', 'clear-penalty': 'ended the penalty of', 'note': 'made a note on',
  'create': 'created', 'revoke': 'revoked', 'back-up': 'wrote', 'run': 'ran',
};

const words = text => text.replaceAll('-', ' ');
const did = action => DID[action] ?? words(action);

function target({ kind, name }) {
  switch (kind) {
    case 'limit': return name === '*' ? 'all limits' : ['limit ', link(name, 'limits', name)];
    case 'rule': return ['rule ', link(name, 'limits', `rule ${name}`)];
    case 'user': case 'quota': return [kind === 'quota' ? 'the quota of ' : 'user ', link(name, 'subjects', `user:${name}`)];
    case 'subject': return link(name, 'subjects', name);
    case 'api-key': return ['API key ', link(name, 'subjects', `api-key:${name}`)];
    default: return [`${words(kind)} `, name];
  }
}

/** Addresses are blocked by a rule of its own; a person thinks of the addresses. The rule is gone when the block is over. */
function asBlock(entry) {
  const [, addresses] = /^blocked:(.+?)(?:\/32)?$/.exec(entry.kind === 'rule' ? entry.name : '') ?? [];
  const action = { set: 'block', remove: 'unblock' }[entry.action];
  return addresses && action ? { ...entry, kind: 'subject', name: `ip:${addresses}`, action, before: null, after: null } : entry;
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

/** The state is already said by the action. */
const SAID_BY_ACTION = { 'switch-off': ['enabled'], 'switch-on': ['enabled'], 'block': ['blocked'], 'unblock': ['blocked'] };

/** The properties that a change set, with their values before and after. */
function differences({ action, before, after }) {
  if (action.startsWith('switch-') && (before === null || after === null)) {
    return []; // Off or on as a whole: no property changed.
  }
  const [old, current] = [flat(read(before)), flat(read(after))];
  const said = [...SAID, ...(SAID_BY_ACTION[action] ?? [])];
  return [...new Set([...Object.keys(old), ...Object.keys(current)])]
    .filter(name => old[name] !== current[name] && !said.includes(name))
    .map(name => ({ name, before: old[name], after: current[name] }));
}

/** A change of a limit or a rule as a text, such as "changed limit orders: max-requests 60 → 120". */
export function inWords(change) {
  const entry = asBlock(change);
  const changed = differences(entry).slice(0, 3).map(({ name, before, after }) => `${name} ${[before, after ?? 'removed'].filter(value => value !== undefined).join(' → ')}`);
  return `${did(entry.action)} ${entry.name === '*' ? 'all limits' : entry.kind === 'subject' ? entry.name : `${entry.kind} ${entry.name}`}${changed.length ? `: ${changed.join(', ')}` : ''}`;
}

/** The limits on which a subject was reset. */
function where(change) {
  const { limit } = { ...read(change.before), ...read(change.after) };
  return change.kind === 'subject' && typeof limit === 'string'
    ? limit.split(', ').map((name, index) => [index ? ', ' : ' on ', limitLink(name)]) : null;
}

/** Nothing can end these by itself. */
const AT_ONCE = ['remove', 'unblock', 'reset', 'clear-penalty', 'note', 'create', 'revoke', 'back-up', 'run'];

/** @param last whether nothing came after it: only then does its end matter */
function end({ action: did, change }, last) {
  return change.until ? (last ? ending(change.until) : time(change.until)) : AT_ONCE.includes(did) ? '' : el('span', { class: 'muted' }, 'no end');
}

/** The actions that can be taken back, for each kind. A subject that was unblocked is rarely to be blocked again. */
const UNDOABLE = {
  limit: ['set', 'remove', 'roll-back', 'switch-off', 'switch-on'], rule: ['set', 'roll-back', 'switch-off', 'switch-on'],
  user: ['block'], subject: ['block'],
};

/** The newest change of each limit, rule, user or address. A block is a matter of its own: a reset does not end it. */
function lastOnes(all) {
  const last = new Map();
  for (const entry of all) {
    const key = JSON.stringify([entry.kind, entry.name, ['block', 'unblock'].includes(entry.action)]);
    last.set(key, last.get(key) ?? entry);
  }
  return new Set(last.values());
}

/** Whether a change can be taken back, if it is the newest one: not if it ended by itself. */
function isUndoable({ kind, action: did, change }) {
  return UNDOABLE[kind]?.includes(did) && !(change.until && Date.parse(change.until) <= now());
}

export function changes(page) {
  const list = el('div', {});
  const few = new Folded(Infinity, 8, () => draw());
  const filter = el('input', { type: 'search', id: 'filter', autocomplete: 'off', spellcheck: 'false', oninput: () => draw() });
  let newest = [];
  let older = [];
  let more = false;
  page.main.append(
    el('div', { class: 'page-head' }, el('h1', {}, 'Changes'), el('p', { class: 'lead' }, 'All that operators changed while the application ran, the newest first.'),
      el('div', { class: 'controls' }, el('label', { for: 'filter' }, 'Filter'), filter)),
    card('Changes', { class: 'card untitled' }, list));
  list.append(loading());

  /** Reads the next older ones, and says so if it fails. */
  async function readOlder() {
    try {
      const data = await get('changes', { before: [...newest, ...older].at(-1).id });
      older = [...older, ...data.changes.map(asBlock)];
      more = data.more;
      draw();
    } catch (failure) {
      page.say(failure.message);
    }
  }

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const all = [...newest, ...older];
    const found = all.filter(change => JSON.stringify(change).toLowerCase().includes(wanted));
    const last = lastOnes(all);
    const undoable = found.filter(entry => last.has(entry) && isUndoable(entry)).map(({ id }) => id);
    const rest = more ? el('p', { class: 'note rest' }, `These are from the newest ${counted(all.length, 'change')}. `,
      button('Show older', { class: 'small', 'data-key': 'older', onclick: readOlder })) : null;
    show(list, [few.shown, found, undoable, more, all.length], () => (found.length === 0
      ? [empty(all.length === 0 ? 'Nothing was changed while the application ran: the configuration applies.' : 'No change contains that.'), rest]
      : [table('Changes', [{ title: 'When' }, { title: 'Who' }, { title: 'What' }, { title: 'Why' }, { title: 'Until' }, { title: '' }],
        few.rows(found).map(entry => [
          time(entry.change.at), el('strong', {}, entry.change.by),
          [`${did(entry.action)} `, target(entry), where(entry), changedProperties(differences(entry))],
          entry.change.reason ?? el('span', { class: 'muted' }, 'no reason given'),
          end(entry, last.has(entry)),
          undoable.includes(entry.id) ? action(page, 'Undo …', { class: 'small', 'data-key': `undo ${entry.id}`, done: 'The change is taken back.',
            'aria-label': `Undo: ${entry.change.by} ${inWords(entry)}` }, () => undo(entry)) : null,
        ])), few.button('Changes', found.length), rest]));
  }

  async function load() {
    const data = await get('changes');
    page.fresh(data);
    const [before, present] = [newest, data.changes.map(asBlock)];
    // Those that the newest ones push out stay, if older ones are shown below them.
    if (older.length) {
      older = [...before.filter(({ id }) => id < present.at(-1).id), ...older];
    } else {
      more = data.more;
    }
    newest = present;
    draw();
  }
  return { load, every: 5000 };
}
