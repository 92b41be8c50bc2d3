import { requireIncrementally } from './pieces.js';

/**
 * undici is a fifth of what the start would load. At once it blocks the event loop for 60 ms, in
 * pieces for at most 20 ms.
 */
export const loadUndici = requireIncrementally({
  library: 'undici',
  pieces: [
    'undici/lib/core/util.js',
    'undici/lib/dispatcher/client.js',
    'undici/lib/dispatcher/agent.js',
    'undici/lib/web/fetch/response.js',
    'undici/lib/web/fetch/index.js',
    'undici/lib/web/cookies/index.js',
    'undici/lib/web/websocket/websocket.js',
    'undici/lib/mock/mock-agent.js',
    'undici/lib/interceptor/cache.js',
  ],
  load: () => import('undici'),
});
