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

/** A receiver without a secret is closed; everything else says that it is not there yet. */
const refuse = (path: string): never => {
  if (RECEIVERS.test(path)) throw Boom.unauthorized('This receiver is closed until it is set up');
  throw Boom.notImplemented('Not built yet; the README lists what is', { code: 'not_built' });
};
