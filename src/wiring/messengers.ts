import { platformsStore } from '../channels/platforms/queries.js';
import { platformsResource } from '../channels/platforms/routes.js';
import { messengersResource } from '../channels/receivers/routes.js';
import type { Resource } from '../kernel/route.js';
import type { Parts } from './parts.js';

/** The chat platforms: what admins set of them, and where they send to. */
export const messengerResources = (parts: Parts): Resource[] => {
  const { store, runtime, secrets, tunnel, port } = parts;
  runtime.platformSettings.reachedAt(() => tunnel.publicUrl() ?? `http://127.0.0.1:${port()}`);
  return [
    messengersResource(runtime),
    platformsResource({
      ...{ ...parts, ...runtime },
      platforms: platformsStore(store),
      ...secrets.channels,
      publicUrl: tunnel.publicUrl,
    }),
  ];
};
