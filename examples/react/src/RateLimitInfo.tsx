import { useEffect, useState, useSyncExternalStore } from 'react';
import { currentRateLimit, onRateLimitChange, RateLimitedError } from './rateLimit';

/** Shows how many requests are left. */
export function Remaining() {
  const rateLimit = useSyncExternalStore(onRateLimitChange, currentRateLimit);
  return rateLimit && <p>{`${rateLimit.remaining} of ${rateLimit.limit} requests left`}</p>;
}

/** Counts down to the time at which the request may be tried again. */
export function TryAgain({ error, onRetry }: { error: RateLimitedError; onRetry: () => void }) {
  const [seconds, setSeconds] = useState(error.retryAfterSeconds);

  useEffect(() => {
    setSeconds(error.retryAfterSeconds);
    const timer = setInterval(() => setSeconds((left) => Math.max(0, left - 1)), 1000);
    return () => clearInterval(timer);
  }, [error]);

  return (
    <p role="alert">
      {error.message}
      <button disabled={seconds > 0} onClick={onRetry}>
        {seconds > 0 ? `Try again in ${seconds} s` : 'Try again'}
      </button>
    </p>
  );
}
