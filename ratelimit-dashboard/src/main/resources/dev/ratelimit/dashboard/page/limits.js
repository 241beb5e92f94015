// All limits with their use, and the rules in their order.

import { bar, card, compact, counted, el, empty, ending, limitLink, link, loading, number, percent, show, table, tag } from './dom.js';
import { get } from './api.js';
import { action, raise, switchAll, switchRule } from './actions.js';

/** Where a limit or rule comes from. */
export function origin(source) {
  if (source.from === 'configuration') {
    return el('span', { class: 'muted unbroken' }, 'Configuration');
  }
  const change = source.change;
  return el('span', {}, `Version ${source.version}, by ${change.by}`,
    change.until ? [el('br', {}), el('span', { class: 'muted' }, 'until ', ending(change.until))] : null);
}

/** The tiers that have values of their own, such as "Tier pro: max-requests 1000." */
function tiers({ properties }) {
  const values = new Map(properties.map(({ name, value }) => [name, value]));
  const differing = new Map();
  for (const { name, value } of properties) {
    const [, tier, property] = /^tiers\.(.+)\.([^.]+)$/.exec(name) ?? [];
    if (tier !== undefined && values.get(property) !== value) {
      differing.set(tier, [...(differing.get(tier) ?? []), `${property} ${value}`]);
    }
  }
  return [...differing].map(([tier, own]) => ` Tier ${tier}: ${own.join(', ')}.`).join('');
}

/** The limit in words, with its burst and the tiers that differ. */
export function grants(limit) {
  const burst = limit.properties.find(({ name }) => name === 'burst' || name === 'capacity')?.value;
  return (burst === undefined ? limit.sentence : `Up to ${burst} at once. ${limit.sentence}`) + tiers(limit);
}

const limitsOf = rule => (rule.properties.limits ?? '').split(/,\s*/).filter(Boolean);

/** So many rules are named beside a limit. */
const NAMED = 2;

/** The other limits that must have room, too: a request passes only if all limits of its rule allow it. */
function companions(limit, rules) {
  const shared = rules.filter(rule => rule.enabled && limitsOf(rule).length > 1 && limitsOf(rule).includes(limit.name));
  return shared.length === 0 ? null : el('div', { class: 'muted companions' },
    shared.slice(0, NAMED).map(rule => el('div', {}, 'Requests of rule ', link(rule.name, 'limits', `rule ${rule.name}`), ' also need room in ',
      limitsOf(rule).filter(name => name !== limit.name).map((name, index) => [index ? ', ' : '', limitLink(name)]), '.')),
    shared.length > NAMED ? el('div', {}, `So do those of ${counted(shared.length - NAMED, 'more rule')}.`) : null);
}

function use(usage) {
  return usage ? [el('span', { class: 'num' }, el('strong', {}, percent(usage.denied, usage.requests)), el('span', { class: 'muted' }, ` ${compact(usage.denied)} of ${compact(usage.requests)}`)),
    bar(usage.denied, usage.requests, 'denied')]
    : el('span', { class: 'muted' }, 'no requests');
}

/** Says that a table has more rows than it shows. */
function rest(shown, count, what) {
  return count > shown ? el('p', { class: 'note rest' }, `The first ${number(shown)} of ${number(count)} ${what}. Filter to see the others.`) : null;
}

function limitsTable(page, { limits, limitCount, rules, filter }) {
  if (limits.length === 0) {
    return empty(filter ? 'No limit has that in its name.' : 'No limits are configured. Add one under ratelimit.limits.');
  }
  return [table('Limits', [{ title: 'Limit' }, { title: 'Allows' }, { title: 'Denied in the last hour' }, { title: 'Source' }, { title: '' }],
    limits.map(limit => [
      [link(limit.name, 'limits', limit.name), limit.enabled ? null : [' ', tag('off', 'off')]],
      [el('span', {}, grants(limit)), companions(limit, rules),
        limit.trial ? el('div', { class: 'trial' }, tag('trial', 'info'), ' ', limit.trial.sentence) : null],
      [el('div', { class: 'use' }, use(limit.lastHour)),
        limit.trial ? el('div', { class: 'use trial' }, tag('trial', 'info'), ' ', use(limit.trial.lastHour ?? null)) : null],
      origin(limit.source),
      action(page, 'Raise …', { class: 'small', 'data-key': `raise ${limit.name}`, 'aria-label': `Raise ${limit.name}`, done: `${limit.name} is raised.` }, () => raise(limit)),
    ])), rest(limits.length, limitCount, 'limits')];
}

/** The conditions of a rule beside method and path, in words. */
const CONDITIONS = [['addresses', 'from'], ['tiers', 'of tier'], ['authorities', 'with'], ['api-keys', 'with API key'], ['condition', 'if']];

function what({ properties }) {
  const { methods, path } = properties;
  const further = CONDITIONS.filter(([name]) => properties[name]);
  const anyPath = path === undefined || path === '/**';
  return [
    methods || !anyPath || further.length === 0 ? el('code', {}, [methods, anyPath ? 'every path' : path].filter(Boolean).join(' ')) : null,
    further.map(([name, word]) => el('div', {}, el('span', { class: 'muted' }, `${word} `), el('code', {}, properties[name]))),
  ];
}

function rulesTable(page, { rules, ruleCount, filter }) {
  if (rules.length === 0) {
    return empty(filter ? 'No rule has that in its name or its properties.' : 'No rules: only methods with @RateLimited are limited.');
  }
  return [table('Rules', [{ title: 'Rule' }, { title: 'Requests' }, { title: 'Counted by' }, { title: 'Limits' }, { title: 'Source' }, { title: '' }],
    rules.map(rule => [
      [el('span', { class: 'position num' }, rule.position ?? '–'), link(rule.name, 'limits', `rule ${rule.name}`), rule.enabled ? null : [' ', tag('off', 'off')]],
      what(rule),
      rule.properties.key ?? '',
      rule.properties.action && rule.properties.action !== 'throttle' ? tag(rule.properties.action, rule.properties.action === 'block' ? 'bad' : 'info')
        : limitsOf(rule).map((name, index) => [index ? ', ' : '', limitLink(name)]),
      origin(rule.source),
      action(page, rule.enabled ? 'Switch off …' : 'Switch on …', { class: 'small', 'data-key': `switch ${rule.name}`, 'aria-label': `Switch rule ${rule.name} ${rule.enabled ? 'off' : 'on'}`, done: 'The rule is switched.' }, () => switchRule(rule)),
    ])), rest(rules.length, ruleCount, 'rules')];
}

function violationsTable(violations) {
  if (violations.length === 0) {
    return empty('No limit was exceeded in the last 24 hours.');
  }
  const most = Math.max(...violations.map(row => row.violations));
  return table('Violations in the last 24 hours', [{ title: 'Limit' }, { title: 'Violations', right: true }, { title: '', spare: true }, { title: 'Subjects', right: true }, { title: 'Average per subject', right: true }],
    violations.map(row => [limitLink(row.limit), compact(row.violations), bar(row.violations, most, 'denied'), compact(row.subjects), number(row.averagePerSubject)]));
}

export function limits(page) {
  const [first, second, third] = [el('div', {}), el('div', {}), el('div', {})];
  let countedAt = 0;
  let typing;
  const filter = el('input', {
    type: 'search', id: 'limits-filter', autocomplete: 'off', spellcheck: 'false', oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => page.refresh(), 200);
    },
  });
  const head = el('div', { class: 'page-head' }, el('h1', {}, 'Limits and rules'),
    el('div', { class: 'controls' }, el('label', { for: 'limits-filter' }, 'Filter'), filter), el('span', { id: 'all-switch' }));
  page.main.append(head, card('Limits', {}, first), card('Violations in the last 24 hours', {}, third), card('Rules, in the order of evaluation', {}, second));
  for (const place of [first, second, third]) {
    place.append(loading());
  }

  /** A sum over a day: once a minute is enough. */
  async function count() {
    if (Date.now() - countedAt > 60_000) {
      const data = await get('violations');
      countedAt = Date.now();
      show(third, data.violations ?? data.missing, () => (data.violations ? violationsTable(data.violations) : empty(Object.values(data.missing)[0])));
    }
  }

  async function load() {
    const wanted = filter.value.trim();
    const data = await get('limits', { filter: wanted });
    page.fresh(data);
    show(head.lastElementChild, data.enabled, enabled => action(page, enabled ? 'Switch all limits off …' : 'Switch all limits on …', { 'data-key': 'all', done: 'Switched on all instances.' }, () => switchAll(!enabled)));
    show(first, { limits: data.limits, limitCount: data.limitCount, rules: data.rules, filter: wanted }, part => limitsTable(page, part));
    show(second, { rules: data.rules, ruleCount: data.ruleCount, filter: wanted }, part => rulesTable(page, part));
    await count();
  }
  return { load, every: 5000 };
}
