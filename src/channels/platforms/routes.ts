import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import type { PlatformCheck } from '../../providers/chat/platform.js';
import { outboundPlatforms } from '../../providers/chat/platforms.js';
import { platforms } from './contract.js';
import {
  askPlatform,
  findPlatformAdapter,
  installPlatform,
  type PlatformsDeps,
  updatePlatform,
  view,
} from './service.js';

export const platformsResource = (deps: PlatformsDeps) =>
  resource('platforms', platforms, {
    list: async () => {
      const rows = await deps.platforms.list();
      const rowOf = (kind: string) => rows.find((row) => row.kind === kind);
      return {
        platforms: outboundPlatforms.map((adapter) => view(deps, adapter, rowOf(adapter.kind))),
      };
    },
    update: ({ kind, body }, by) => updatePlatform(deps, findPlatformAdapter(kind), body, by),
    delete: async ({ kind }, by) => {
      const adapter = findPlatformAdapter(kind);
      if (!(await deps.platforms.delete(adapter.kind, [by.record()]))) {
        throw Boom.notFound(
          `No settings are stored for ${adapter.kind}, so there is nothing to delete`,
        );
      }
      await deps.platformSettings.refresh();
    },
    test: async ({ kind }, by) => {
      const adapter = findPlatformAdapter(kind);
      return checked(await askPlatform(deps, adapter, by, adapter.check));
    },
    install: async ({ kind }, by) =>
      checked(await installPlatform(deps, findPlatformAdapter(kind), by)),
  });

const checked = (check: PlatformCheck) =>
  check.ok
    ? { ok: true, account: check.account, error: null }
    : { ok: false, account: null, error: check.error };
