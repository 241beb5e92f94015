// One limit or one rule: its properties, its history, and how to change it.

import { card, el, empty, ending, link, loading, number, percent, show, table, tag, time } from './dom.js';
import { get } from './api.js';
import { ranges, showChart } from './chart.js';
import { action, changedProperties, edit, raise, removeLimit, rollBack, switchLimit, switchRule } from './actions.js';
import { grants, origin } from './limits.js';

const STATES = { set: 'set', disabled: 'switched off', removed: 'back to the configuration', broken: 'invalid, skipped' };

function differences(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.filter(name => before[name] !== after[name]).map(name => ({ name, before: before[name], after: after[name] }));
}

/** The changed properties of a version, beside the version before it. */
function difference(version, previous) {
  if (version.state === 'broken') {
    return version.problem;
  }
  if (version.state !== 'set') {
    return el('span', { class: 'muted' }, STATES[version.state]);
  }
  const changed = differences(previous?.state === 'set' ? previous.properties : {}, version.properties);
  return changed.length === 0 ? el('span', { class: 'muted' }, 'no difference')
    : changedProperties(changed);
}

/** Whether a newer version came before its end, and lasts at least as long: then it does not come back. */
function isReplaced({ inForce, change }, newer) {
  const lasts = ({ until }) => (until ? Date.parse(until) : Infinity);
  return !inForce && newer.some(one => one.state !== 'broken' && Date.parse(one.change.at) < lasts(change) && lasts(one.change) >= lasts(change));
}

function history(page, kind, name, versions) {
  if (versions.length === 0) {
    return empty('It was never changed while running. The configuration applies.');
  }
  const inForce = versions.find(version => version.inForce)?.version ?? 0;
  const applies = (version, index) => version.inForce || (index === 0 && version.state === 'removed');
  return table('History', [{ title: 'Version' }, { title: 'Change' }, { title: 'When' }, { title: 'Who and why' }, { title: 'Until' }, { title: '' }],
    versions.map((version, index) => [
      [String(version.version), applies(version, index) ? [' ', tag('in force', 'good')] : null],
      difference(version, versions[index + 1]),
      time(version.change.at),
      [el('strong', {}, version.change.by), el('br', {}), version.change.reason ?? el('span', { class: 'muted' }, 'no reason given')],
      isReplaced(version, versions.slice(0, index)) ? el('span', { class: 'muted' }, 'replaced')
        : version.change.until ? ending(version.change.until) : el('span', { class: 'muted' }, 'no end'),
      version.state === 'broken' || applies(version, index) ? null
        : action(page, 'Roll back …', { class: 'small', 'data-key': `back ${version.version}`, 'aria-label': `Roll back to version ${version.version}`, done: 'Rolled back.' }, () => rollBack(kind, name, version, inForce)),
    ]));
}

function properties(limit) {
  return table('Properties', [{ title: 'Property' }, { title: 'Value' }, { title: 'Source' }],
    limit.properties.map(({ name, value, source }) => [
      el('code', {}, name), el('span', { class: 'num' }, value),
      source.limit ? [origin(source), ' of ', link(source.limit, 'limits', source.limit)] : origin(source)]));
}

function buttons(page, limit) {
  return [
    action(page, 'Raise …', { class: 'primary', 'data-key': 'raise', done: `${limit.name} is raised.` }, () => raise(limit)),
    action(page, 'Change …', { 'data-key': 'edit', done: 'Saved.' }, () => edit(limit)),
    action(page, limit.enabled ? 'Switch off …' : 'Switch on …', { 'data-key': 'switch', done: 'Switched.' }, () => switchLimit(limit)),
    limit.source.from === 'database' ? action(page, 'Return to the configuration …', { 'data-key': 'remove', done: 'The configuration applies again.' }, () => removeLimit(limit)) : null,
  ];
}

function trial(limit) {
  return el('div', { class: 'beside' },
    el('div', {}, el('h3', {}, 'Live'), el('p', {}, grants(limit)), usage(limit.lastHour, 'denied')),
    el('div', {}, el('h3', {}, tag('trial', 'info')), el('p', {}, limit.trial.sentence), usage(limit.trial.lastHour, 'would have been denied')));
}

/** Each version of a limit is a mark in its chart. */
function marks({ history: versions = [], timeline }) {
  return versions.filter(({ change }) => change.at >= timeline.from).map((version, index) => {
    const changed = version.state === 'set' ? differences(versions[index + 1]?.state === 'set' ? versions[index + 1].properties : {}, version.properties) : [];
    return { at: version.change.at, by: version.change.by,
      text: changed.length ? changed.map(({ name, before, after }) => `${name} ${[before, after ?? 'removed'].filter(Boolean).join(' → ')}`).join(', ') : STATES[version.state] };
  });
}

function usage(use, words) {
  return el('p', { class: 'muted num' }, use ? `${number(use.denied)} of ${number(use.requests)} ${words} in the last hour (${percent(use.denied, use.requests)})`
    : 'No requests are known of the last hour.');
}

function ofRule(page, name) {
  const [head, facts, versions] = [el('div', { class: 'page-head' }), el('div', {}), el('div', {})];
  page.main.append(el('p', { class: 'crumbs' }, link('Limits', 'limits')), head, card('Properties', {}, facts), card('History', {}, versions));
  async function load() {
    const data = await get('rule', { name });
    page.fresh(data);
    show(head, data.rule, rule => [el('h1', {}, `Rule ${rule.name}`), rule.enabled ? null : tag('off', 'off'),
      el('div', { class: 'buttons' }, action(page, rule.enabled ? 'Switch off …' : 'Switch on …', { 'data-key': 'switch', done: 'Switched.' }, () => switchRule(rule)))]);
    show(facts, data.rule, rule => [el('p', {}, origin(rule.source)), table('Properties', [{ title: 'Property' }, { title: 'Value' }],
      Object.entries(rule.properties).map(([key, value]) => [el('code', {}, key), value]))]);
    show(versions, data.history ?? data.missing, () => (data.history ? history(page, 'rule', name, data.history) : empty(data.missing.history)));
  }
  return { load, every: 5000 };
}

export function limit(page, name) {
  if (name.startsWith('rule ')) {
    return ofRule(page, name.slice(5));
  }
  const [head, live, requests, facts, versions] = [el('div', { class: 'page-head' }), el('div', {}), el('div', {}), el('div', {}), el('div', {})];
  const range = ranges(() => page.refresh());
  for (const place of [requests, facts, versions]) {
    place.append(loading());
  }
  const timelineCard = card('Requests', {}, requests);
  timelineCard.querySelector('.card-head').append(el('div', { class: 'controls' }, range.choice));
  page.main.append(el('p', { class: 'crumbs' }, link('Limits', 'limits')), head, live, timelineCard, card('History', {}, versions), card('Properties', {}, facts));
  async function load() {
    const wanted = range.chosen();
    const data = await get('limit', { name, range: wanted });
    if (wanted !== range.chosen()) {
      return;
    }
    page.fresh(data);
    show(head, data.limit, found => [el('h1', {}, found.name), found.enabled ? null : tag('off', 'off'),
      el('p', { class: 'lead' }, grants(found)), el('div', { class: 'buttons' }, buttons(page, found))]);
    show(live, data.limit, found => (found.trial ? card('Trial beside live', {}, trial(found)) : null));
    if (data.timeline) {
      showChart(requests, data.timeline, marks(data), data.trial ?? undefined);
    } else {
      show(requests, null, () => empty('The history cannot be read now.'));
    }
    show(facts, data.limit, properties);
    show(versions, data.history ?? data.missing, () => (data.history ? history(page, 'limit', name, data.history) : empty(data.missing.history)));
  }
  return { load, every: 5000 };
}
