import { resource } from '../../kernel/route.js';
import type { HooksStore } from '../queries.js';
import { findHook } from '../service.js';
import { replays } from './contract.js';
import { type ReplayFailuresDeps, replayFailures } from './service.js';

interface ReplaysRoutesDeps extends ReplayFailuresDeps {
  hooks: Pick<HooksStore, 'get' | 'grantedTools'>;
}

export const replaysResource = (deps: ReplaysRoutesDeps) =>
  resource('replays', replays, {
    create: async ({ body }, by) => {
      if (body.hookId !== undefined) await findHook(deps, by.userId, body.hookId);
      return replayFailures(deps, body, by);
    },
  });
