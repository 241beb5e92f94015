'use strict';

/** Warn when this many requests or fewer remain. */
const FEW = 5;

/** The post that was written last from here: what is edited and deleted. */
let lastPost = 1;
const post = () => `/api/posts/${lastPost}`;

const image = () => {
  const form = new FormData();
  form.append('image', new Blob([new Uint8Array(2048)], { type: 'image/png' }), 'image.png');
  return form;
};
const credentials = () => ({ username: byId('username').value, password: byId('password').value });

/**
 * A path is a text or a function; so is a body, which is sent as JSON unless it is a form. Requests that must be some seconds
 * apart rest that long after each success, with those that share their limit.
 */
const GROUPS = [
  { title: 'Reads', limit: '60 a minute, 10 at once, more with an API key', endpoints: [
    { id: 'campaigns', method: 'GET', path: '/api/campaigns' },
    { id: 'posts', method: 'GET', path: '/api/campaigns/1/posts' },
  ] },
  { title: 'Mutations', limit: '30 a minute, 5 at once', endpoints: [
    { id: 'post', method: 'POST', path: '/api/campaigns/1/posts', body: { text: 'Out of character: back on Monday.' },
      then: answer => { lastPost = answer.id; } },
    { id: 'edit', method: 'PUT', path: post, body: { text: 'Out of character: back on Tuesday.' } },
    { id: 'delete', method: 'DELETE', path: post },
  ] },
  { title: 'Turns', limit: '10 a minute, 3 at once', endpoints: [
    { id: 'turn', method: 'POST', path: '/api/campaigns/1/scenes/1/posts', body: { text: 'I climb the stairs.' } },
  ] },
  { title: 'Creation', limit: '5 a minute, 2 at once', endpoints: [
    { id: 'create-campaign', method: 'POST', path: '/api/campaigns', body: { title: 'The Salt Road' } },
    { id: 'create-scene', method: 'POST', path: '/api/campaigns/1/scenes', body: { title: 'Footprints in the ash' } },
  ] },
  { title: 'Uploads', limit: '5 a minute, 2 at once', endpoints: [
    { id: 'avatar', method: 'POST', path: '/api/upload/avatar', body: image },
    { id: 'scene-header', method: 'POST', path: '/api/upload/scene-header', body: image },
  ] },
  { title: 'Compose lock', limit: '12 a minute, 5 seconds apart, both together', endpoints: [
    { id: 'acquire', method: 'POST', path: '/api/scenes/1/compose-lock/acquire', apart: 5, with: ['release'] },
    { id: 'release', method: 'DELETE', path: '/api/scenes/1/compose-lock/release', apart: 5, with: ['acquire'] },
  ] },
  { title: 'Join', limit: '5 in 15 minutes, by address', endpoints: [
    { id: 'join', method: 'POST', path: '/api/campaigns/1/join' },
  ] },
  { title: 'Login', limit: '5 failed a minute, by address and name', endpoints: [
    { id: 'login', method: 'POST', path: '/login', body: credentials, fields: true },
  ] },
];

const byId = id => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const value = something => (typeof something === 'function' ? something() : something);
const chosen = name => document.querySelector(`input[name="${name}"]:checked`).value;
const now = () => performance.now();

const apiKey = () => byId('api-key').value.trim();

/** Until when a button rests: by caller and endpoint, for the limits of one caller are not those of another. */
const rests = new Map();
const restKey = endpoint => `${chosen('user')} ${apiKey()} ${endpoint.id}`;

function rest(endpoint, key, seconds) {
  for (const id of [endpoint.id, ...(endpoint.with ?? [])]) {
    rests.set(key.replace(/\S+$/, id), now() + seconds * 1000);
  }
}

/** When the limit of the shown answer resets, and when a rejected request may be sent again, or null. */
let resetAt = null;
let retryAt = null;
let remaining = null;
let focusLost = null;

/** The cells of what remains that have a countdown. */
let counting = [];
let asked = 0;
let nextUsage = null;

// The buttons

function field(id, label, type, value) {
  return make('label', {}, label,
    make('input', { id, type, value, autocomplete: 'off', spellcheck: false, autocapitalize: 'none' }));
}

function row(endpoint) {
  const label = make('code');
  const button = make('button', { type: 'button', id: `send-${endpoint.id}` });
  button.addEventListener('click', () => press(endpoint));
  const line = make('div', { className: 'endpoint' },
    make('span', { className: 'method', textContent: endpoint.method }), label, button);
  if (endpoint.fields) {
    line.append(make('div', { className: 'fields' },
      field('username', 'Name', 'text', 'alice'), field('password', 'Password', 'password', 'guess')));
  }
  Object.assign(endpoint, { button, label, busy: false });
  return line;
}

for (const group of GROUPS) {
  byId('endpoints').append(make('div', { className: 'card group' },
    make('h2', {}, group.title, make('small', { textContent: group.limit })),
    ...group.endpoints.map(row)));
}
const ENDPOINTS = GROUPS.flatMap(group => group.endpoints);

// Asking

async function press(endpoint) {
  const caller = { user: chosen('user'), apiKey: apiKey() };
  const key = restKey(endpoint);
  busy(endpoint, true);
  try {
    const answers = await Promise.all(
      Array.from({ length: Number(chosen('times')) }, () => ask(endpoint, caller)));
    const denied = answers.filter(answer => answer.status === 429);
    const wait = Math.max(0, ...denied.map(answer => Number(answer.headers.get('Retry-After')) || 1));
    const apart = answers.some(answer => answer.ok && limited(answer)) ? endpoint.apart ?? 0 : 0;
    if (wait > 0 || apart > 0) {
      rest(endpoint, key, Math.max(wait, apart));
    }
    const shown = denied.length > 0 ? denied[denied.length - 1] : tightest(answers);
    if (endpoint.then && shown.ok) {
      endpoint.then(JSON.parse(shown.text));
    }
    show(shown, answers, denied.length);
  } catch (error) {
    fail(endpoint, error);
  } finally {
    focusLost = endpoint.button;
    busy(endpoint, false);
    showUsage();
  }
}

function busy(endpoint, is) {
  endpoint.busy = is;
  byId('answer').setAttribute('aria-busy', ENDPOINTS.some(one => one.busy));
  tick();
}

function headersOf(caller) {
  const headers = { 'X-Requested-With': 'XMLHttpRequest' };
  if (caller.user) {
    headers.Authorization = `Basic ${btoa(`${caller.user}:${caller.user}`)}`;
  }
  if (caller.apiKey) {
    headers['X-API-Key'] = caller.apiKey;
  }
  return headers;
}

const nameOf = caller => [caller.user || (caller.apiKey ? '' : 'anonymous'), caller.apiKey ? WITH_KEY : '']
  .join(' ').trim();
const WITH_KEY = 'with API key';

async function ask(endpoint, caller) {
  const request = { method: endpoint.method, path: value(endpoint.path) };
  const headers = headersOf(caller);
  let body = value(endpoint.body);
  if (body && !(body instanceof FormData)) {
    headers['Content-Type'] = 'application/json';
    body = JSON.stringify(body);
  }
  const response = await fetch(request.path, {
    method: request.method, body, headers, credentials: 'omit', cache: 'no-store',
  });
  return {
    request, who: nameOf(caller), status: response.status, ok: response.ok, headers: response.headers,
    text: await response.text(), at: now(),
  };
}

/** Whether a limit applies to the caller: an administrator has none, and does not have to wait. */
const limited = answer => answer.headers.has('RateLimit') || answer.headers.has('X-RateLimit-Limit');

/** Of answers that crossed on their way, the one that says the least remains. */
function tightest(answers) {
  const left = answer => Number(answer.headers.get('X-RateLimit-Remaining') ?? Infinity);
  return answers.reduce((one, other) => (left(other) < left(one) ? other : one));
}

// Showing

const WORDS = {
  200: 'OK', 201: 'Created', 204: 'No Content', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden',
  404: 'Not Found', 409: 'Conflict', 415: 'Unsupported Media Type', 429: 'Too Many Requests',
  500: 'Internal Server Error', 503: 'Service Unavailable',
};

function statusBadge(element, status) {
  element.textContent = status;
  element.className = `status ${status < 300 ? 'good' : status === 429 ? 'bad' : 'odd'}`;
  return element;
}

function show(answer, answers, denied) {
  const { request, headers } = answer;
  remember();
  byId('empty').hidden = true;
  byId('result').hidden = false;
  statusBadge(byId('status'), answer.status).textContent = `${answer.status} ${WORDS[answer.status] ?? ''}`.trim();
  byId('brief').hidden = false;
  statusBadge(byId('brief-status'), answer.status);
  byId('request').textContent = `${request.method} ${request.path}`;
  byId('who').textContent = answer.who;

  const passed = answers.length - denied;
  byId('summary').hidden = answers.length === 1;
  byId('summary').textContent = `${answers.length} at once: ${passed} passed, ${denied} denied.`;

  showLimit(answer);
  byId('body').textContent = pretty(answer.text) || '(empty)';
  byId('headers').tBodies[0].replaceChildren(...[...headers]
    .map(([name, value]) => ({ name, value, ours: /ratelimit|retry-after/.test(name) }))
    .sort((one, other) => other.ours - one.ours || one.name.localeCompare(other.name))
    .map(({ name, value, ours }) => make('tr', { className: ours ? 'ours' : '' },
      make('th', { scope: 'row', textContent: name }), make('td', { textContent: value }))));

  const retry = headers.get('Retry-After');
  const as = answer.who === WITH_KEY ? '' : 'as ';
  byId('said').textContent = `${request.method} ${request.path} ${as}${answer.who}: ${answer.status}.`
    + (answers.length > 1 ? ` ${passed} passed, ${denied} denied.` : '')
    + (answer.status === 429 ? ` Try again in ${spoken(Number(retry))}.` : '')
    + (remaining !== null && remaining <= FEW ? ` ${remain()}` : '');
}

/**
 * The time to the reset is taken from the t of RateLimit, which is a number of seconds, and not from X-RateLimit-Reset,
 * which is a moment: the clock of this machine may be wrong.
 */
function showLimit(answer) {
  const limit = Number(answer.headers.get('X-RateLimit-Limit'));
  const field = /"([^"]+)";r=(\d+);t=(\d+)/.exec(answer.headers.get('RateLimit') ?? '');
  const limited = field !== null;
  byId('gauges').hidden = !limited;
  byId('unlimited').hidden = limited || answer.status === 401;
  remaining = limited ? Number(field[2]) : null;
  resetAt = limited ? answer.at + Number(field[3]) * 1000 : null;
  retryAt = answer.status === 429 ? answer.at + Number(answer.headers.get('Retry-After')) * 1000 : null;
  if (limited) {
    byId('remaining').textContent = remaining;
    byId('limit').textContent = limit;
    byId('bar').style.width = `${Math.min(100, 100 * remaining / limit)}%`;
    byId('gauges').className = `gauges ${remaining === 0 ? 'none' : remaining <= FEW ? 'low' : ''}`;
    byId('policy').textContent = `limit ${field[1]}`;
    byId('warning-title').textContent = answer.status === 429 ? 'Rate limit exceeded' : 'Rate limit warning';
  }
}

function fail(endpoint, error) {
  byId('said').textContent = `${endpoint.method} ${value(endpoint.path)}: no answer. ${error.message}`;
  byId('empty').hidden = false;
  byId('result').hidden = true;
  byId('empty').replaceChildren(make('h2', { textContent: 'No answer' }), make('p', { textContent: error.message }));
  resetAt = null;
  retryAt = null;
  remaining = null;
}

/** Moves the last answer to the top of the earlier ones. */
function remember() {
  if (byId('result').hidden) {
    return;
  }
  const status = parseInt(byId('status').textContent, 10);
  byId('history').prepend(make('li', {},
    statusBadge(make('span'), status),
    make('code', { textContent: byId('request').textContent }),
    make('span', { className: 'who', textContent: byId('who').textContent })));
  while (byId('history').children.length > 8) {
    byId('history').lastChild.remove();
  }
  byId('past').hidden = false;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function time(seconds) {
  if (seconds < 60) {
    return `${seconds} s`;
  }
  const minutes = Math.floor(seconds / 60);
  const two = number => String(number).padStart(2, '0');
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)} min`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)} h`;
}

const spoken = seconds => (seconds < 60 ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'}` : time(seconds));

const remain = () => (remaining === 0
  ? 'No requests remain.'
  : remaining === 1 ? '1 request remains.' : `${remaining} requests remain.`);

const secondsUntil = moment => Math.max(0, Math.ceil((moment - now()) / 1000));

// The remainder

/** Asking costs nothing, so it is done after each press, and when the first of the countdowns ends. */
async function showUsage() {
  const asking = ++asked;
  clearTimeout(nextUsage);
  const caller = { user: chosen('user'), apiKey: apiKey() };
  let usage = null;
  let note = '';
  try {
    const login = encodeURIComponent(byId('username').value);
    const response = await fetch(`/api/usage?login=${login}`, { headers: headersOf(caller), credentials: 'omit', cache: 'no-store' });
    const answer = JSON.parse(await response.text());
    if (response.ok) {
      usage = answer;
      note = usage.exempt ? 'No limit applies to this caller.' : '';
    } else {
      note = response.status === 401 && caller.apiKey ? 'This API key is not known.' : answer.detail;
    }
  } catch (error) {
    note = `No answer. ${error.message}`;
  }
  if (asking !== asked) {
    return; // another has been asked since, of another caller perhaps
  }
  const at = now();
  counting = [];
  byId('usage').hidden = false;
  set(byId('usage-note'), note);
  byId('usage-note').hidden = note === '';
  set(byId('caller'), usage ? usage.caller : nameOf(caller));
  set(byId('tier'), usage ? usage.tier : '');
  byId('tier').hidden = usage === null;
  byId('groups').replaceChildren(...cells(usage, at));
  byId('groups').hidden = byId('groups').children.length === 0;
  const soonest = Math.min(...counting.map(cell => cell.until));
  if (soonest < Infinity) {
    nextUsage = setTimeout(showUsage, Math.max(1000, soonest - at));
  }
  tick();
}

const CALENDAR = { hour: 'This hour', day: 'Today', month: 'This month' };

function cells(usage, at) {
  const limits = Object.entries(usage?.limits ?? {}).map(([group, left]) => {
    const note = make('span');
    if (left.retryAfter > 0) {
      counting.push({ note, words: 'next in', until: at + left.retryAfter * 1000 });
    } else if (left.resetAfter > 0) {
      counting.push({ note, words: 'full in', until: at + left.resetAfter * 1000 });
    }
    const few = left.remaining <= Math.min(FEW, left.limit / 2);
    const level = left.remaining === 0 || left.retryAfter > 0 ? 'none' : few ? 'low' : '';
    return cell(group, group[0].toUpperCase() + group.slice(1).replace('-', ' '), level, left, note);
  });
  const login = usage?.login ? [loginCell(usage.login, at)] : [];
  const quota = Object.entries(usage?.quota ?? {}).map(([part, left]) =>
    cell(part, CALENDAR[part] ?? part, `quota ${left.remaining === 0 ? 'none' : ''}`, left,
      make('span', { textContent: `${left.used.toLocaleString('en')} used` })));
  return [...limits, ...login, ...quota];
}

/** The guesses that remain for the name in the form; while it is blocked, for how long. */
function loginCell(left, at) {
  const note = make('span');
  if (left.retryAfter > 0) {
    counting.push({ note, words: left.penalised ? 'blocked for' : 'next in', until: at + left.retryAfter * 1000 });
  }
  return cell('login', `Login as ${byId('username').value}`, left.retryAfter > 0 ? 'none' : '', left, note);
}

/** A quota that is not restricted has no limit, and any number remains. */
function cell(id, title, className, { limit, remaining }, note) {
  const bar = make('i');
  bar.style.width = `${limit === null ? 100 : Math.min(100, 100 * remaining / limit)}%`;
  const figure = limit === null
    ? [make('b', { textContent: 'any' })]
    : [make('b', { textContent: remaining.toLocaleString('en') }),
      ` of ${limit.toLocaleString('en', { notation: 'compact' })}`];
  return make('div', { id: `usage-${id}`, className },
    make('dt', { textContent: title }),
    make('dd', {}, make('span', {}, ...figure), make('span', { className: 'bar', ariaHidden: 'true' }, bar), note));
}

// As time goes by

function set(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function tick() {
  for (const endpoint of ENDPOINTS) {
    const until = rests.get(restKey(endpoint)) ?? 0;
    const resting = until > now();
    if (!resting) {
      rests.delete(restKey(endpoint));
    }
    const { button, label } = endpoint;
    button.disabled = resting || endpoint.busy;
    set(label, value(endpoint.path));
    set(button, resting ? `Try again in ${spoken(secondsUntil(until))}` : 'Send');
    button.setAttribute('aria-label', `${button.textContent}: ${endpoint.method} ${label.textContent}`);
    if (focusLost === button && !button.disabled) {
      if (document.activeElement === document.body) {
        button.focus({ preventScroll: true });
      }
      focusLost = null;
    }
  }
  for (const { note, words, until } of counting) {
    const seconds = secondsUntil(until);
    set(note, seconds > 0 ? `${words} ${time(seconds)}` : '');
  }
  const left = resetAt === null ? 0 : secondsUntil(resetAt);
  const warn = remaining !== null && remaining <= FEW && left > 0;
  byId('warning').hidden = !warn;
  if (resetAt !== null) {
    set(byId('countdown'), left > 0 ? time(left) : 'now');
  }
  set(byId('brief-text'), warn ? `${remaining} left, ${time(left)}` : '');
  if (warn) {
    const wait = retryAt === null ? 0 : secondsUntil(retryAt);
    set(byId('warning-text'), `${remain()} ${wait > 0 ? `Try again in ${time(wait)}` : `The limit resets in ${time(left)}`}.`);
  }
}

for (const input of [...document.querySelectorAll('input[name="user"]'), byId('api-key'), byId('username')]) {
  input.addEventListener('change', () => {
    tick();
    showUsage();
  });
}
setInterval(tick, 200);
tick();
showUsage();
