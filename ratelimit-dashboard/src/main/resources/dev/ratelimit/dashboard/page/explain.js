// Why a request is allowed or denied. Nothing is charged.

import { bar, card, countdown, el, limitLink, link, loading, number, pageOf, sentence } from './dom.js';
import { get, post } from './api.js';
import { outcome } from './subjects.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

function input(name, label, help, attributes) {
  return el('div', { class: 'field', 'data-field': name }, el('label', { for: `e-${name}` }, label),
    el('input', { id: `e-${name}`, name, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': `e-${name}-help`, ...attributes }),
    el('p', { class: 'help', id: `e-${name}-help` }, help));
}

function answerOf(limit) {
  const { count } = limit;
  return el('li', {}, outcome(limit.outcome), ' ', limitLink(limit.limit),
    limit.subject ? [' counts ', link(limit.subject, 'subjects', limit.subject)] : null,
    count && count.used !== null && count.capacity !== null ? el('span', { class: 'muted num' }, `: ${number(count.used)} of ${number(count.capacity)} used, ${number(count.remaining)} remain`) : null,
    count?.retryAfter ? el('span', {}, `, again in ${count.retryAfter}`) : null,
    limit.penaltyUntil ? [', penalty for another ', countdown(limit.penaltyUntil)] : null,
    limit.note ? el('span', { class: 'muted' }, ` ${sentence(limit.note)}`) : null,
    count && count.used !== null && count.capacity !== null ? bar(count.used, count.capacity, count.remaining === 0 ? 'denied' : 'allowed') : null);
}

const DENIED = ['throttled', 'blocked', 'unknown_api_key', 'failed_closed'];

/** One step of a request on its way: its mark is good, bad or neither. */
function step(kind, ...content) {
  return el('li', { class: kind ? `step step-${kind}` : 'step' }, content);
}

function ruleOf(rule) {
  const kind = rule.action === 'block' || rule.limits.some(({ outcome: word }) => DENIED.includes(word)) ? 'bad' : 'good';
  const says = { allow: ' applies, and lets the request pass.', block: ' applies, and blocks the request.' }[rule.action]
    ?? (rule.limits.length ? ' applies, and asks:' : ' applies.');
  return step(kind, el('p', {}, 'Rule ', link(rule.name, 'limits', `rule ${rule.name}`), says),
    rule.limits.length ? el('ul', { class: 'answers' }, rule.limits.map(answerOf)) : null);
}

/** So many rules that do not apply are listed at once; more are folded. */
const LISTED = 4;

function passedOver(rules) {
  const list = el('ul', { class: 'passed-over' }, rules.map(rule => el('li', {}, link(rule.name, 'limits', `rule ${rule.name}`), ': ', rule.why)));
  const text = rules.length === 1 ? 'One rule does not apply' : `${number(rules.length)} rules do not apply`;
  return step('skipped', rules.length > LISTED ? el('details', {}, el('summary', {}, text), list) : [el('p', {}, `${text}:`), list]);
}

/** The rules in their order; those between two that apply are one step. */
function walk(rules) {
  const steps = [];
  let passed = [];
  for (const rule of [...rules, null]) {
    if (rule && !rule.applies) {
      passed.push(rule);
      continue;
    }
    if (passed.length) {
      steps.push(passedOver(passed));
      passed = [];
    }
    if (rule) {
      steps.push(ruleOf(rule));
    }
  }
  return steps;
}

const SENTENCES = {
  allowed: 'This request would be allowed now.',
  throttled: 'This request would be denied now: a limit is used up.',
  blocked: 'This request would be denied now: it is blocked.',
  exempt: 'This request is exempt: no rule applies.',
  unknown_api_key: 'This request would be denied now: its API key is invalid.',
  failed_open: 'This request would be allowed now, because the store is unavailable and the rule allows that.',
  failed_closed: 'This request would be denied now, because the store is unavailable.',
};

const KINDS = { user: 'user:', address: 'ip:', apiKey: 'api-key:' };

/** Where to go from a denial: the limits that deny, and the subjects that they count. */
function remedies({ rules, request }) {
  const denying = rules.filter(rule => rule.applies).flatMap(rule => rule.limits).filter(limit => DENIED.includes(limit.outcome));
  const limits = [...new Set(denying.map(({ limit }) => pageOf(limit)))].filter(Boolean);
  const subjects = [...new Set([...denying.map(({ subject }) => subject), request.user ? `user:${request.user}` : null])].filter(Boolean);
  const links = [...limits.map(name => ['limit ', link(name, 'limits', name)]), ...subjects.map(name => link(name, 'subjects', name))];
  return links.length === 0 ? null
    : el('p', { class: 'remedy' }, 'To change that, open ', links.map((one, index) => [index ? (index === links.length - 1 ? ' or ' : ', ') : '', one]), '.');
}

function result(found) {
  const { request, sender, rules } = found;
  const denied = DENIED.includes(found.outcome);
  const applying = rules.filter(rule => rule.applies).length;
  return [
    card('Answer', {},
      el('p', { class: 'answer' }, outcome(found.outcome), ' ', el('strong', {}, SENTENCES[found.outcome] ?? `The outcome is ${found.outcome}.`)),
      denied ? remedies(found) : null,
      rules.length > 0 && applying === 0 && !found.exempt
        ? el('p', { class: 'note' }, 'No rule applies to this path. If your proxy removes a prefix from paths, write the path without it.') : null),
    card(`Step by step: ${applying} of ${rules.length} rules apply`, {},
      el('ol', { class: 'story' },
        step('', el('p', {}, el('code', {}, `${request.method} ${request.path}`), request.address ? ` arrives from ${request.address}.` : ' arrives. No address was given.'),
          found.notes.length ? el('ul', { class: 'notes' }, found.notes.map(note => el('li', {}, sentence(note)))) : null),
        step(sender.blockedUntil ? 'bad' : '', el('p', {},
          sender.user ? ['The sender is ', link(`user:${sender.user}`, 'subjects', `user:${sender.user}`), '.'] : 'Nobody is logged in.',
          sender.apiKey ? ` API key: ${sender.apiKey}.` : null, ` The tier is ${sender.tier}, from ${sender.tierFrom}.`,
          sender.blockedUntil ? [' The user is blocked for another ', countdown(sender.blockedUntil), '.'] : null)),
        found.exempt ? step('good', el('p', {}, 'The request is exempt, so no rule applies. Without the exemption:')) : null,
        rules.length === 0 ? step('', el('p', {}, 'There are no rules.')) : walk(rules),
        step(denied ? 'bad' : 'good', el('p', {}, el('strong', {}, denied ? 'The request is denied.' : 'The request reaches the application.'))))),
  ];
}

/** @param about a subject to begin with, such as user:alice */
export function explain(page, about = '') {
  const given = Object.fromEntries(Object.entries(KINDS).filter(([, kind]) => about.startsWith(kind)).map(([name, kind]) => [name, about.slice(kind.length)]));
  const answer = el('div', { id: 'answer', 'aria-live': 'polite' });
  const error = el('p', { class: 'error general', role: 'alert' });
  const curl = el('textarea', { id: 'e-curl', rows: 3, spellcheck: 'false', placeholder: "curl -u alice: https://shop.example/api/orders", 'aria-describedby': 'e-curl-help' });

  async function send(body) {
    error.textContent = '';
    if (!answer.firstChild) {
      answer.replaceChildren(loading());
    }
    try {
      const data = await post('explain', body);
      page.fresh(data);
      answer.replaceChildren(...result(data.explanation));
      answer.firstChild.scrollIntoView({ block: 'nearest' }); // On a phone, it is below the forms.
    } catch (failure) {
      answer.replaceChildren();
      error.textContent = failure.message;
    }
  }

  const form = el('form', {
    class: 'card', 'aria-labelledby': 'e-form', onsubmit: event => {
      event.preventDefault();
      send(Object.fromEntries(new FormData(form)));
    },
  }, el('div', { class: 'card-head' }, el('h2', { id: 'e-form' }, 'Describe a request')),
  el('div', { class: 'fields' },
    el('div', { class: 'field' }, el('label', { for: 'e-method' }, 'Method'),
      el('select', { id: 'e-method', name: 'method' }, METHODS.map(method => el('option', {}, method))), el('p', { class: 'help' })),
    input('path', 'Path', 'Without the part after ?', { value: '/', required: true }),
    input('user', 'User', 'Empty for nobody', { value: given.user }),
    input('address', 'Address', 'Of the client, such as 203.0.113.7', { value: given.address }),
    input('authorities', 'Authorities', 'Separated by commas'),
    input('apiKey', 'API key', 'Its id, never its secret', { value: given.apiKey })),
  el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Explain')));

  const paste = el('form', {
    class: 'card', 'aria-labelledby': 'e-paste', onsubmit: event => {
      event.preventDefault();
      if (!curl.value.trim()) {
        answer.replaceChildren();
        error.textContent = 'Paste a curl line first.';
        curl.focus();
        return;
      }
      send({ curl: curl.value });
    },
  }, el('div', { class: 'card-head' }, el('h2', { id: 'e-paste' }, 'Or paste a curl line')),
  el('label', { class: 'hidden', for: 'e-curl' }, 'curl line'), curl,
  el('p', { class: 'help', id: 'e-curl-help' }, 'It is only read. Passwords and tokens in it are dropped.'),
  el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Explain curl line')));

  page.main.append(el('div', { class: 'page-head' }, el('h1', {}, 'Explain'), el('p', { class: 'lead' }, 'Why a request is allowed or denied now. Nothing is sent, and nothing is charged.')), el('div', { class: 'columns' }, form, paste), error, answer);
  return { load: async () => page.fresh(await get('health')), every: 10_000 };
}
