import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import { unbuilt } from './contract.js';

const RECEIVERS = /-webhook$/;

export const unbuiltResource = () =>
  resource(
    'unbuilt',
    unbuilt,
    Object.fromEntries(
      Object.entries(unbuilt).map(([name, { path }]) => [name, async () => refuse(path)]),
    ),
  );

/**
 * Replies with 401 for a receiver, which is closed without a secret, and with 501 for everything
 * else.
 */
const refuse = (path: string): never => {
  if (RECEIVERS.test(path)) throw Boom.unauthorized('This receiver is closed until it is set up');
  throw Boom.notImplemented('Not built yet; the README lists what is', { code: 'not_built' });
};
