import type { Resource } from '../kernel/route.js';
import { messengersResource } from '../resources/messengers/routes.js';
import { platformsResource } from '../resources/platforms/routes.js';
import { platformsStore } from '../resources/platforms/store.js';
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
