import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Remaining, TryAgain } from './RateLimitInfo';
import { fetchJson, queryClient, RateLimitedError } from './rateLimit';

const problem = { detail: 'At most 5 requests per minute. Try again in 3 seconds.' };

function answer(status: number, remaining: number, headers: Record<string, string> = {}) {
  return new Response(JSON.stringify(status === 200 ? { hello: 'world' } : problem), {
    status,
    headers: { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': String(remaining), ...headers },
  });
}

const server = vi.fn<() => Promise<Response>>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', server);
  server.mockReset();
  queryClient.clear();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** As `useQuery` fetches: with the retries of the client, which `fetchQuery` leaves out by itself. */
const hello = () =>
  queryClient.fetchQuery({
    queryKey: ['hello'],
    queryFn: () => fetchJson('/api/hello'),
    ...queryClient.getDefaultOptions().queries,
  });

test('a query waits as long as the server asks for, and no less', async () => {
  server.mockResolvedValueOnce(answer(429, 0, { 'Retry-After': '3' })).mockResolvedValueOnce(answer(200, 4));
  const result = hello();
  await vi.advanceTimersByTimeAsync(2_999);
  expect(server).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(server).toHaveBeenCalledTimes(2);
  expect(await result).toEqual({ hello: 'world' });
});

test('a query that would have to wait for long fails at once', async () => {
  server.mockResolvedValue(answer(429, 0, { 'Retry-After': '60' }));
  await expect(hello()).rejects.toMatchObject({ retryAfterSeconds: 60, message: problem.detail });
  expect(server).toHaveBeenCalledTimes(1);
});

test('a 429 whose body is no problem document is an error that knows how long to wait', async () => {
  server.mockResolvedValue(new Response('<p>Slow down', { status: 429, headers: { 'Retry-After': '60' } }));
  await expect(hello()).rejects.toMatchObject({ retryAfterSeconds: 60, message: 'Too many requests.' });
});

test('an answer without a body is no error', async () => {
  server.mockResolvedValue(new Response(null, { status: 204 }));
  expect(await fetchJson('/api/hello', { method: 'DELETE' })).toBeNull();
});

test('the remainder is shown', async () => {
  render(<Remaining />);
  server.mockResolvedValue(answer(200, 2));
  await act(async () => {
    await hello();
  });
  expect(screen.getByText('2 of 5 requests left')).toBeTruthy();
});

test('the button counts down', async () => {
  const retry = vi.fn();
  render(<TryAgain error={new RateLimitedError(2, problem.detail)} onRetry={retry} />);
  const button = screen.getByRole('button') as HTMLButtonElement;
  expect(button.textContent).toBe('Try again in 2 s');
  expect(button.disabled).toBe(true);
  await act(async () => {
    await vi.advanceTimersByTimeAsync(2_000);
  });
  expect(button.disabled).toBe(false);
  button.click();
  expect(retry).toHaveBeenCalledOnce();
});
