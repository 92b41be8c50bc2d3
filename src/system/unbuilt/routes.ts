import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import { unbuilt } from './contract.js';

export const unbuiltResource = () =>
  resource(
    'unbuilt',
    unbuilt,
    Object.fromEntries(Object.keys(unbuilt).map((name) => [name, refuse])),
  );

const refuse = async (): Promise<never> => {
  throw Boom.notImplemented('Not built yet; the README lists what is', { code: 'not_built' });
};
