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
  throw Boom.notImplemented('Not implemented yet. The README lists the implemented endpoints', {
    code: 'not_built',
  });
};
