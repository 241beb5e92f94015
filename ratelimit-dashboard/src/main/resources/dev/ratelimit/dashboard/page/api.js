// Calls of the application. All addresses are relative to the page, so they are right behind any proxy.

export class Failure extends Error {
  constructor(status, detail, field) {
    super(detail);
    this.status = status;
    this.field = field;
  }
}

const HEADERS = { Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest' };
const TIMEOUT_MILLIS = 15_000;

/** Without the user and password that may stand in front of the host: browsers refuse calls to such an address. */
const PAGE = location.origin + location.pathname;

async function call(path, options) {
  let response;
  try {
    response = await fetch(new URL('data/' + path, PAGE), {
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MILLIS),
      ...options,
      headers: { ...HEADERS, ...options?.headers },
    });
  } catch (error) {
    throw new Failure(0, error.name === 'TimeoutError' ? 'The application did not answer in time.' : 'The application cannot be reached.');
  }
  if (response.type === 'opaqueredirect' || response.status === 401) {
    throw new Failure(401, 'You are no longer logged in.');
  }
  let body;
  try {
    body = await response.json();
  } catch {
    throw new Failure(response.status, `The application answered with status ${response.status}.`);
  }
  if (!response.ok) {
    throw new Failure(response.status, body.detail ?? `The application answered with status ${response.status}.`, body.field);
  }
  return body;
}

export function get(path, parameters) {
  const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return call(given.length ? `${path}?${new URLSearchParams(given)}` : path);
}

/** Sends something, with the tokens that prove that this page does it. They are asked for anew, since a login changes them. */
export async function post(path, body) {
  const session = await get('session');
  const headers = { 'Content-Type': 'application/json', 'X-Ratelimit-Token': session.token };
  if (session.csrf) {
    headers[session.csrf.name] = session.csrf.value;
  }
  return call(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/**
 * Calls work again and again: at its interval while it succeeds, less and less often while it fails, and not while the page is
 * hidden or paused.
 */
export class Poller {
  static #paused = false;
  #work;
  #interval;
  #failed;
  #timer;
  #failures = 0;
  #running = false;
  #wanted = false;
  #closed = false;

  constructor(work, interval, failed) {
    this.#work = work;
    this.#interval = interval;
    this.#failed = failed;
    document.addEventListener('visibilitychange', this.#visible);
    this.now();
  }

  /** Calls now, or once more after the call that is under way. */
  async now() {
    clearTimeout(this.#timer);
    if (this.#closed) {
      return;
    }
    if (this.#running) {
      this.#wanted = true;
      return;
    }
    this.#running = true;
    this.#wanted = false;
    let again = true;
    try {
      await this.#work();
      this.#failures = 0;
    } catch (failure) {
      this.#failures++;
      if (!this.#closed) {
        again = this.#failed(failure) !== false;
      }
    }
    this.#running = false;
    if (this.#wanted) {
      this.now();
    } else if (again && !this.#closed && !document.hidden && !Poller.#paused) {
      const wait = Math.min(60_000, this.#interval * 2 ** Math.min(5, this.#failures));
      this.#timer = setTimeout(() => this.now(), wait);
    }
  }

  /** Stops or continues all calls that come by themselves. Those that a person asks for are made. */
  static pause(paused) {
    Poller.#paused = paused;
    document.dispatchEvent(new Event('visibilitychange'));
  }

  #visible = () => {
    if (document.hidden || Poller.#paused) {
      clearTimeout(this.#timer);
    } else {
      this.now();
    }
  };

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#visible);
  }
}
