// The changes that an operator can make. Each opens a dialog; viewers do not get these buttons.

import { ask } from './dialog.js';
import { button, el, now, time, to } from './dom.js';
import { get } from './api.js';

/** The properties that say how much a limit grants, those of its tiers included. */
const SIZES = /^(tiers\..*\.)?(max-requests|burst|capacity|refill|drain)$/;

/** A value for people: a moment with a second is precise enough. */
const readable = value => (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) ? time(value) : value);

/** Properties with their values before and after. */
export function changedProperties(properties) {
  return properties.length === 0 ? null : el('ul', { class: 'diff field wide' }, properties.map(({ name, before, after }) => el('li', {},
    el('code', {}, name), ' ',
    before === null || before === undefined ? null : [el('del', {}, readable(before)), ' '],
    after === null || after === undefined ? el('span', { class: 'muted' }, 'removed') : el('ins', {}, readable(after)))));
}

/** A button for operators; nothing for viewers. */
export function action(page, text, attributes, work) {
  if (!page.session.maySteer) {
    return null;
  }
  return button(text, {
    ...attributes,
    onclick: async () => {
      try {
        if (await work()) {
          page.changed(attributes.done ?? 'Changed.');
        }
      } catch (failure) {
        if (failure.status === undefined) {
          throw failure;
        }
        page.say(failure.message); // What the dialog would show cannot be read.
      }
    },
  });
}

/** A value with its number doubled: 60, 10/s, 5/15m. */
function doubled(value) {
  const [, amount, rest] = /^(\d+)(.*)$/.exec(value) ?? [];
  return amount === undefined ? value : String(2 * Number(amount)) + rest;
}

/** A new version replaces the stored one, so it repeats the values that the stored one had when the dialog opened. */
function definition(limit, values) {
  const properties = {};
  for (const { name, value, source } of limit.properties) {
    const written = values[`p:${name}`]?.trim();
    if (written === '') {
      continue;
    }
    if (written !== undefined && written !== value) {
      properties[name] = written;
    } else if (source.from === 'database' && !source.limit) {
      properties[name] = value;
    }
  }
  const [, name, value] = ADDED.exec(values.added ?? '') ?? [];
  if (name) {
    properties[name] = value.trim();
  }
  return properties;
}

/** Another property, with its value. */
const ADDED = /^\s*([^:\s]+)\s*:\s*(\S.*)$/;

function wrongAddition({ added }) {
  return added?.trim() && !ADDED.test(added) ? ['added', 'Write property: value, such as min-interval: 5s.'] : undefined;
}

/** @param kept the values that the operator wrote before, by the names of the fields */
function inputs(limit, kept, chosen, change) {
  return limit.properties.filter(({ name }) => name !== 'enabled' && chosen(name)).map(({ name, value }) => {
    const filled = kept[`p:${name}`] ?? change(value);
    return { name: `p:${name}`, label: name, value: filled, now: value, help: filled === value ? '' : `now ${value}`, first: SIZES.test(name) };
  });
}

/**
 * What stores a definition of a limit. The version at the opening goes with it: the server refuses the change if another operator was
 * faster. The dialog then opens anew, with the current values and those that the operator wrote.
 */
function storing(limit, open) {
  return {
    path: 'steer/set-limit',
    check: wrongAddition,
    body: values => ({ limit: limit.name, version: limit.source.version ?? 0, properties: definition(limit, values) }),
    again: async values => {
      const { limit: current } = await get('limit', { name: limit.name });
      const left = limit.properties.filter(({ name, value }) => values[`p:${name}`]?.trim() === value).map(({ name }) => `p:${name}`);
      return () => open(current, Object.fromEntries(Object.entries(values).filter(([name]) => !left.includes(name))));
    },
  };
}

/** When the stored values end by themselves; undefined if they do not. A new version repeats them, so it could keep them for good. */
const endOf = limit => limit.source.change?.until ?? undefined;

/** Says so above the fields. */
function temporary(limit) {
  return endOf(limit)
    ? el('p', { class: 'note field wide' }, 'The values in force are temporary, until ', time(endOf(limit)), '. Your change keeps those that you leave, for as long as it lasts.')
    : null;
}

export function raise(limit, kept = {}) {
  return ask({
    title: `Raise ${limit.name}`,
    text: 'Twice as much is filled in. Write any number.',
    fields: [temporary(limit), ...inputs(limit, kept, name => SIZES.test(name), doubled)].filter(Boolean),
    ends: kept.end ?? endOf(limit) ?? '1h',
    reason: kept.reason,
    confirm: 'Raise',
    ...storing(limit, raise),
  });
}

export function edit(limit, kept = {}) {
  return ask({
    title: `Change ${limit.name}`,
    text: limit.sentence,
    fields: [
      temporary(limit),
      ...inputs(limit, kept, () => true, value => value),
      { name: 'added', label: 'Another property', value: kept.added, help: 'As in the configuration, such as min-interval: 1s' },
    ].filter(Boolean),
    ends: kept.end ?? endOf(limit) ?? '',
    reason: kept.reason,
    confirm: 'Save',
    ...storing(limit, edit),
  });
}

/** Switching on returns to what applied before, whose end may come by itself. */
const AS_BEFORE = 'As before it was switched off';

export function switchLimit(limit) {
  return ask({
    title: limit.enabled ? `Switch ${limit.name} off` : `Switch ${limit.name} on`,
    text: limit.enabled ? 'It is then neither asked nor charged: nobody is denied because of it.' : 'The values from before apply again, with the counts it had.',
    ends: limit.enabled ? '1h' : '',
    endless: limit.enabled ? undefined : AS_BEFORE,
    confirm: limit.enabled ? 'Switch off' : 'Switch on',
    danger: limit.enabled,
    path: 'steer/switch-limit',
    body: () => ({ limit: limit.name, on: !limit.enabled }),
  });
}

export function removeLimit(limit) {
  return ask({
    title: `Return ${limit.name} to the configuration`,
    text: 'The stored version no longer applies. It stays in the history.',
    confirm: 'Return to the configuration',
    path: 'steer/remove-limit',
    body: () => ({ limit: limit.name }),
  });
}

/** A temporary version stays so: its end is filled in while that is to come. One for good is a change, not a return. */
function endOfRollBack(until) {
  if (!until) {
    return { ends: '', note: null, endless: undefined };
  }
  const over = Date.parse(until) <= now();
  return {
    ends: over ? '1h' : until,
    endless: null,
    note: el('p', { class: 'note field wide' },
      over ? ['That version ended at ', time(until), '. Choose how long it applies now.']
        : ['That version was temporary, until ', time(until), '. It keeps its end, unless you choose another.']),
  };
}

/** Shows first what would change, beside the version that is in force; zero is the configuration. */
export async function rollBack(kind, name, { version, change }, inForce) {
  const { difference } = await get('difference', { kind, name, from: inForce, to: version });
  const { ends, note, endless } = endOfRollBack(change.until);
  return ask({
    title: `Roll ${name} back to version ${version}`,
    text: difference.properties.length === 0 ? 'Nothing would change.' : 'It becomes a new version, so this, too, can be rolled back.',
    fields: [changedProperties(difference.properties), note].filter(Boolean),
    ends,
    endless,
    confirm: 'Roll back',
    path: `steer/roll-back-${kind}`,
    body: () => ({ [kind]: name, version }),
  });
}

/** The version that applied before the newest one, and would apply again if that ended now; undefined for the configuration. */
function versionBefore(history) {
  const lasting = history.slice(1).find(({ state, change }) => state !== 'broken' && !(change.until && Date.parse(change.until) <= now()));
  return lasting?.state === 'removed' ? undefined : lasting;
}

/** Takes a change back: the newest one of that limit, rule, user or address. Nothing is hidden by it, since it is a change, too. */
export async function undo({ kind, name, action: did }) {
  if (kind === 'user' || kind === 'subject') {
    return unblock(kind === 'user' ? `user:${name}` : name);
  }
  const off = did === 'switch-off';
  if (name === '*') {
    return switchAll(off);
  }
  const { [kind]: current, history } = await get(kind, { name });
  if (did.startsWith('switch-') && history && current.enabled !== off) {
    return kind === 'limit' ? switchLimit(current) : switchRule(current);
  }
  const before = history && versionBefore(history);
  if (before) {
    return rollBack(kind, name, before, history.find(version => version.inForce)?.version ?? 0);
  }
  if (kind === 'limit' && history && current.source.from === 'database') {
    return removeLimit(current);
  }
  location.hash = to('limits', kind === 'limit' ? name : `rule ${name}`);
  return false;
}

export function switchRule(rule) {
  return ask({
    title: rule.enabled ? `Switch rule ${rule.name} off` : `Switch rule ${rule.name} on`,
    text: rule.enabled ? 'Requests are then no longer matched by it.' : 'It applies again, as it was.',
    ends: rule.enabled ? '1h' : '',
    endless: rule.enabled ? undefined : AS_BEFORE,
    confirm: rule.enabled ? 'Switch off' : 'Switch on',
    danger: rule.enabled,
    path: 'steer/switch-rule',
    body: () => ({ rule: rule.name, on: !rule.enabled }),
  });
}

export function switchAll(on) {
  return ask({
    title: on ? 'Switch all limits on' : 'Switch all limits off',
    text: on ? 'Limits and rules apply again, on all instances.' : 'Every request then passes, on all instances, and nothing is counted.',
    ends: on ? '' : '15m',
    confirm: on ? 'Switch on' : 'Switch everything off',
    danger: !on,
    path: 'steer/switch-all',
    body: () => ({ on }),
  });
}

export function block(subject) {
  return ask({
    title: `Block ${subject}`,
    text: /^ip:.*\//.test(subject)
      ? `All requests from ${subject.slice(3)} are rejected, on all instances. These addresses count as one client.`
      : 'All its requests are rejected, on all instances.',
    ends: '1h',
    confirm: 'Block',
    danger: true,
    path: 'steer/block',
    body: () => ({ subject }),
  });
}

export function unblock(subject) {
  return ask({
    title: `Unblock ${subject}`,
    text: 'Its requests pass again, as far as its limits allow.',
    confirm: 'Unblock',
    path: 'steer/unblock',
    body: () => ({ subject }),
  });
}

export function reset(subject, limit) {
  return ask({
    title: limit ? `Reset ${subject} on ${limit}` : `Reset ${subject} on all limits`,
    text: 'The count, the violations and the penalty are forgotten.',
    confirm: 'Reset',
    path: 'steer/reset',
    body: () => ({ subject, limit }),
  });
}
