import { systemClock } from '../../../src/kernel/clock.js';
import { createHttp } from '../../../src/kernel/http.js';
import type { PlatformReach, PlatformSettings } from '../../../src/providers/chat/platform.js';

/** A way to a fake on loopback; private addresses beside the base URL are not allowed. */
export const reachOf = (
  settings: Partial<PlatformSettings>,
  signal = new AbortController().signal,
  allow: string[] = [],
): PlatformReach & { close(): Promise<void> } => {
  const http = createHttp({ allow });
  const empty = { baseUrl: 'http://127.0.0.1:1', values: {}, secrets: {} };
  return {
    ...{ clock: systemClock, http, settings: { ...empty, ...settings }, signal },
    receiver: 'https://adjutant.example.org/api/receiver',
    close: () => http.close(),
  };
};

/** The same with one bit of it changed. */
export const flipped = (body: string): Buffer => {
  const bytes = Buffer.from(body);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};
