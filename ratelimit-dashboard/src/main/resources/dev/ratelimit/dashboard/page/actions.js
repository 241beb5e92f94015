// The changes that an operator can make. Each opens a dialog; viewers do not get these buttons.

import { ask } from './dialog.js';
import { button, el, time } from './dom.js';
import { get } from './api.js';

/** The properties that say how much a limit grants, those of its tiers included. */
const SIZES = /^(tiers\..*\.)?(max-requests|burst|capacity|refill|drain)$/;

/** Properties with their values before and after. */
export function changedProperties(properties) {
  return properties.length === 0 ? null : el('ul', { class: 'diff field wide' }, properties.map(({ name, before, after }) => el('li', {},
    el('code', {}, name), ' ',
    before === null || before === undefined ? null : [el('del', {}, before), ' '],
    after === null || after === undefined ? el('span', { class: 'muted' }, 'removed') : el('ins', {}, after))));
}

/** A button for operators; nothing for viewers. */
export function action(page, text, attributes, work) {
  if (!page.session.maySteer) {
    return null;
  }
  return button(text, {
    ...attributes,
    onclick: async () => {
      if (await work()) {
        page.changed(attributes.done ?? 'Changed.');
      }
    },
  });
}

/** A value with its number doubled: 60, 10/s, 5/15m. */
function doubled(value) {
  const [, amount, rest] = /^(\d+)(.*)$/.exec(value) ?? [];
  return amount === undefined ? value : String(2 * Number(amount)) + rest;
}

/** A new version replaces the stored one, so it repeats what that has. */
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
  const added = values.added?.trim();
  if (added) {
    const [name, ...rest] = added.split(':');
    properties[name.trim()] = rest.join(':').trim();
  }
  return properties;
}

function inputs(limit, chosen, change) {
  return limit.properties.filter(({ name }) => name !== 'enabled' && chosen(name)).map(({ name, value }) => ({
    name: `p:${name}`, label: name, value: change(value), now: value, help: change(value) === value ? '' : `now ${value}`, first: SIZES.test(name),
  }));
}

/** When the stored values end by themselves; undefined if they do not. A new version repeats them, so it could keep them for good. */
const endOf = limit => limit.source.change?.until ?? undefined;

/** Says so above the fields. */
function temporary(limit) {
  return endOf(limit)
    ? el('p', { class: 'note field wide' }, 'The values in force are temporary, until ', time(endOf(limit)), '. Your change keeps those that you leave, for as long as it lasts.')
    : null;
}

export function raise(limit) {
  return ask({
    title: `Raise ${limit.name}`,
    text: 'Twice as much is filled in. Write any number.',
    fields: [temporary(limit), ...inputs(limit, name => SIZES.test(name), doubled)].filter(Boolean),
    ends: endOf(limit) ?? '1h',
    confirm: 'Raise',
    path: 'steer/set-limit',
    body: values => ({ limit: limit.name, properties: definition(limit, values) }),
  });
}

export function edit(limit) {
  return ask({
    title: `Change ${limit.name}`,
    text: limit.sentence,
    fields: [
      temporary(limit),
      ...inputs(limit, () => true, value => value),
      { name: 'added', label: 'Another property', help: 'As in the configuration, such as min-interval: 1s' },
    ].filter(Boolean),
    ends: endOf(limit) ?? '',
    confirm: 'Save',
    path: 'steer/set-limit',
    body: values => ({ limit: limit.name, properties: definition(limit, values) }),
  });
}

export function switchLimit(limit) {
  return ask({
    title: limit.enabled ? `Switch ${limit.name} off` : `Switch ${limit.name} on`,
    text: limit.enabled ? 'It is then neither asked nor charged: nobody is denied because of it.' : 'It applies again, with the counts it had.',
    ends: limit.enabled ? '1h' : '',
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

/** Shows first what would change, beside the version that is in force; zero is the configuration. */
export async function rollBack(kind, name, version, inForce) {
  const { difference } = await get('difference', { kind, name, from: inForce, to: version });
  return ask({
    title: `Roll ${name} back to version ${version}`,
    text: difference.properties.length === 0 ? 'Nothing would change.' : 'It becomes a new version, so this, too, can be rolled back.',
    fields: [changedProperties(difference.properties)].filter(Boolean),
    ends: '',
    confirm: 'Roll back',
    path: `steer/roll-back-${kind}`,
    body: () => ({ [kind]: name, version }),
  });
}

export function switchRule(rule) {
  return ask({
    title: rule.enabled ? `Switch rule ${rule.name} off` : `Switch rule ${rule.name} on`,
    text: rule.enabled ? 'Requests are then no longer matched by it.' : 'It applies again, as it was.',
    ends: rule.enabled ? '1h' : '',
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
