// The words of the wait for another attempt.
import type { RetryWait } from "../../host/host";

/** What went wrong, as the beginning of a sentence. */
export function whatFailed(retry: RetryWait, provider: string): string {
  switch (retry.code) {
    case "overloaded":
      return `${provider} is overloaded`;
    case "rate_limit":
      return `${provider} limits how often it answers`;
    case "network":
      return `${provider} can't be reached`;
    case "server":
      return `${provider} has trouble`;
    default:
      return `${provider} did not answer`;
  }
}

/** When it is tried again: "Trying again in 12 s (attempt 3 of 8)". */
export function countdown(retry: RetryWait, now: number): string {
  const left = Math.ceil((Date.parse(retry.at) - now) / 1000);
  const attempt = retry.attempt > 0 ? ` (attempt ${retry.attempt} of ${retry.of})` : "";
  if (left <= 0) return `Trying again now${attempt}`;
  const time = left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`;
  return `Trying again in ${time}${attempt}`;
}
