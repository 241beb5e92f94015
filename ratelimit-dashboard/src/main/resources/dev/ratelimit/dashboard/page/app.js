// The frame of all screens: who is here, which screen is shown, and how old its data is.

import { clock, duration, el, link, serverTime } from './dom.js';
import { get, Poller } from './api.js';
import { shortcuts } from './keys.js';
import { now } from './now.js';
import { limits } from './limits.js';
import { limit } from './limit.js';
import { subjects } from './subjects.js';
import { explain } from './explain.js';
import { changes } from './changes.js';

const SCREENS = {
  now: { title: 'Now', open: now },
  limits: { title: 'Limits', open: (page, name) => (name === undefined ? limits(page) : limit(page, name)) },
  subjects: { title: 'Subjects', open: subjects },
  explain: { title: 'Explain', open: explain },
  changes: { title: 'Changes', open: changes },
};

const $ = id => document.getElementById(id);
const main = $('main');

let poller;
let close;
let shown;
let updated = 0;
let failing;
let paused = false;
let toastTimer;

const page = {
  session: undefined,
  main,

  /** Notes that data came, and the time of the server with it. */
  fresh(data) {
    if (data.at) {
      serverTime(data.at);
    }
    updated = Date.now();
    failing = undefined;
    if (data.health) {
      health(data.health);
    }
    age();
  },

  /** Loads the data of the screen now. */
  refresh() {
    poller?.now();
  },

  /** Says something for a moment. */
  say(text) {
    $('toast').textContent = text;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { $('toast').textContent = ''; }, 6000);
  },

  /** After a change: says so, and shows its effect. */
  changed(text) {
    page.say(text);
    page.refresh();
  },
};

function health({ state, text }) {
  const marks = { good: '✓', warn: '!', bad: '✕' };
  const pill = $('health');
  if (pill.textContent !== `${marks[state]} ${text}`) {
    pill.hidden = false;
    pill.className = `pill ${state}`;
    pill.replaceChildren(el('span', { 'aria-hidden': 'true' }, `${marks[state]} `), text);
  }
}

/** Says how old the data is: quietly while calls succeed, in a banner while they fail. */
function age() {
  const seconds = Math.round((Date.now() - updated) / 1000);
  const fresh = $('fresh');
  fresh.hidden = !updated || Boolean(failing);
  const text = paused ? `Paused at ${clock(new Date(updated))}` : seconds < 12 ? 'Live' : `${duration(seconds)} old`;
  if (fresh.textContent !== text) {
    fresh.textContent = text;
  }
  const banner = $('stale');
  banner.hidden = !failing;
  if (!failing) {
    return;
  }
  if (failing.status === 401) {
    if (banner.dataset.shown !== '401') {
      banner.dataset.shown = '401';
      banner.replaceChildren('You are no longer logged in. ', el('a', { href: '' }, 'Log in again'), '.');
    }
    return;
  }
  banner.dataset.shown = 'age';
  banner.textContent = `${failing.message} ${updated ? `The data is ${duration(seconds)} old.` : ''} Trying again …`;
}
setInterval(age, 1000);

function failed(failure) {
  if (!(failure instanceof Error) || failure.status === undefined) {
    console.error(failure);
  }
  failing = failure;
  age();
  if (failure.status === 404) {
    failing = undefined;
    updated = 0;
    age();
    const [screen] = location.hash.replace(/^#\/?/, '').split('/');
    main.replaceChildren(el('section', { class: 'card' }, el('h1', {}, 'Not found'), el('p', { class: 'empty' }, failure.message),
      el('p', {}, link(`All ${screen}`, screen))));
    return false;
  }
  if (!updated && !main.querySelector('.card')) {
    main.replaceChildren(el('p', { class: 'empty' }, failure.status === 403 ? 'You may not use the dashboard.' : failure.message));
  }
  return failure.status !== 401 && failure.status !== 403;
}

/** Calls that take longer may be waiting for a database that is gone. */
const SLOW_MILLIS = 1000;

/** While the data of a screen is on its way, says at once what is known without the database: an operator needs that most then. */
function watched(opened) {
  return async () => {
    const slow = setTimeout(async () => {
      const data = await get('health').catch(() => undefined);
      if (data && opened === shown) {
        health(data.health);
        opened.atOnce?.(data);
      }
    }, SLOW_MILLIS);
    try {
      await opened.load();
    } finally {
      clearTimeout(slow);
    }
  };
}

function open() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
  const parameters = rest.map(part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const known = Object.hasOwn(SCREENS, name) ? name : 'now';
  const screen = SCREENS[known];
  for (const tab of document.querySelectorAll('.tabs a')) {
    const active = tab.getAttribute('href') === `#/${known}`;
    tab.toggleAttribute('data-active', active);
    if (active) {
      tab.setAttribute('aria-current', 'page');
    } else {
      tab.removeAttribute('aria-current');
    }
  }
  poller?.close();
  close?.();
  poller = undefined;
  document.title = `${parameters[0] ? `${parameters[0]} · ` : ''}${screen.title} · Rate limits`;
  main.replaceChildren();
  shown = screen.open(page, ...parameters);
  close = shown.close;
  if (shown.load) {
    poller = new Poller(watched(shown), shown.every ?? 5000, failed);
  }
}

async function start() {
  page.session = await get('session');
  serverTime(page.session.at);
  $('instance').textContent = page.session.instance;
  $('who').textContent = page.session.maySteer ? page.session.user : `${page.session.user}, may look`;
  $('who').title = page.session.maySteer ? 'You may look and change limits.' : 'You may look, but not change anything.';
  window.addEventListener('hashchange', () => {
    document.querySelector('dialog')?.close();
    open();
    main.focus();
  });
  open();
}

function pause() {
  paused = !paused;
  $('fresh').setAttribute('aria-pressed', String(paused));
  $('fresh').title = paused ? 'Go on updating' : 'Stop updating';
  Poller.pause(paused);
  age();
}

$('fresh').title = 'Stop updating';
$('fresh').addEventListener('click', pause);
shortcuts($('keys'), Object.keys(SCREENS), pause);

$('skip').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});

const first = new Poller(async () => {
  await start();
  first.close();
}, 2000, failed);
