// Why a request is allowed or denied. Nothing is charged.

import { card, countdown, el, empty, limitLink, link, number, tag, time } from './dom.js';
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
    limit.penaltyUntil ? [', penalty for another ', countdown(limit.penaltyUntil)] : null,
    limit.note ? el('span', { class: 'muted' }, ` ${limit.note}`) : null);
}

function ruleOf(rule) {
  return el('li', { class: rule.applies ? 'applies' : 'passed-over' },
    el('div', { class: 'rule-head' },
      tag(rule.applies ? 'applies' : 'does not apply', rule.applies ? 'good' : 'off'), ' ',
      link(rule.name, 'limits', `rule ${rule.name}`), rule.action === 'throttle' ? null : [' ', tag(rule.action, rule.action === 'block' ? 'bad' : 'info')]),
    rule.why && !rule.applies ? el('p', { class: 'muted' }, rule.why) : null,
    rule.limits.length ? el('ul', { class: 'answers' }, rule.limits.map(answerOf)) : null);
}

const SENTENCES = {
  allowed: 'This request would be allowed now.',
  throttled: 'This request would be denied now: a limit is used up.',
  blocked: 'This request would be denied now: it is blocked.',
  exempt: 'This request is exempt: no rule applies.',
  unknown_api_key: 'This request would be denied now: its API key is invalid.',
};

function result(found) {
  const { request, sender } = found;
  const applying = found.rules.filter(rule => rule.applies).length;
  return [
    card('Answer', {},
      el('p', { class: 'answer' }, outcome(found.outcome), ' ', el('strong', {}, SENTENCES[found.outcome] ?? `The outcome is ${found.outcome}.`)),
      el('dl', { class: 'facts' },
        el('dt', {}, 'Request'), el('dd', {}, el('code', {}, `${request.method} ${request.path}`)),
        el('dt', {}, 'Sender'), el('dd', {}, [sender.user ?? 'nobody', request.address ? `from ${request.address}` : null].filter(Boolean).join(' ')),
        el('dt', {}, 'Tier'), el('dd', {}, `${sender.tier}, from ${sender.tierFrom}`),
        sender.apiKey ? [el('dt', {}, 'API key'), el('dd', {}, sender.apiKey)] : null,
        sender.blockedUntil ? [el('dt', {}, 'Blocked until'), el('dd', {}, time(sender.blockedUntil))] : null),
      found.notes.length ? el('ul', { class: 'notes' }, found.notes.map(note => el('li', {}, note))) : null),
    card(`Rules: ${applying} of ${found.rules.length} apply`, {}, found.rules.length === 0 ? empty('There are no rules.')
      : el('ol', { class: 'rules' }, found.rules.map(ruleOf))),
  ];
}

export function explain(page) {
  const answer = el('div', { id: 'answer', 'aria-live': 'polite' });
  const error = el('p', { class: 'error general', role: 'alert' });
  const curl = el('textarea', { id: 'e-curl', rows: 3, spellcheck: 'false', placeholder: "curl -u alice: https://shop.example/api/orders", 'aria-describedby': 'e-curl-help' });

  async function send(body) {
    error.textContent = '';
    try {
      const data = await post('explain', body);
      page.fresh(data);
      answer.replaceChildren(...result(data.explanation).flat().filter(Boolean));
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
    input('path', 'Path', 'Within the application, without the part after ?', { value: '/', required: true }),
    input('user', 'User', 'Empty for nobody'),
    input('address', 'Address', 'Of the client, such as 203.0.113.7'),
    input('authorities', 'Authorities', 'Separated by commas'),
    input('apiKey', 'API key', 'Its id, never its secret')),
  el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Explain')));

  const paste = el('form', {
    class: 'card', 'aria-labelledby': 'e-paste', onsubmit: event => {
      event.preventDefault();
      send({ curl: curl.value });
    },
  }, el('div', { class: 'card-head' }, el('h2', { id: 'e-paste' }, 'Or paste a curl line')),
  el('label', { class: 'hidden', for: 'e-curl' }, 'curl line'), curl,
  el('p', { class: 'help', id: 'e-curl-help' }, 'It is only read: nothing is sent. Passwords and tokens in it are dropped.'),
  el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Explain curl line')));

  page.main.append(el('h1', {}, 'Explain'), el('div', { class: 'columns' }, form, paste), error, answer);
  return { load: async () => page.fresh(await get('health')), every: 10_000 };
}
