import { QueryClient } from '@tanstack/react-query';

/** The answer was 429. */
export class RateLimitedError extends Error {
  constructor(
    readonly retryAfterSeconds: number,
    detail: string,
  ) {
    super(detail);
  }
}

export type RateLimit = { limit: number; remaining: number };

let latest: RateLimit | null = null;
const listeners = new Set<() => void>();

/** The numbers of the latest answer. */
export const currentRateLimit = () => latest;

export function onRateLimitChange(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function note(headers: Headers) {
  const limit = headers.get('X-RateLimit-Limit');
  const remaining = headers.get('X-RateLimit-Remaining');
  if (limit !== null && remaining !== null) {
    latest = { limit: Number(limit), remaining: Number(remaining) };
    listeners.forEach((listener) => listener());
  }
}

/** The JSON of the answer, or null if it has no body. */
export async function fetchJson<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  note(response.headers);
  if (response.status === 429) {
    const problem = await response.json().catch(() => null); // a proxy or your own handler may send something else
    throw new RateLimitedError(
      Number(response.headers.get('Retry-After') ?? 1),
      problem?.detail ?? 'Too many requests.',
    );
  }
  if (!response.ok) {
    throw new Error(`${response.status} ${response.statusText}`);
  }
  const body = await response.text();
  return body === '' ? (null as T) : JSON.parse(body);
}

/** Waits as long as the server asks for, once, and only if a person would wait, too. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) =>
        error instanceof RateLimitedError ? failures < 1 && error.retryAfterSeconds <= 10 : failures < 3,
      retryDelay: (failures, error) =>
        error instanceof RateLimitedError ? error.retryAfterSeconds * 1000 : Math.min(1000 * 2 ** failures, 30_000),
    },
    // A mutation is never sent twice by itself.
    mutations: { retry: false },
  },
});
