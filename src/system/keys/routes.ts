import { resource } from '../../kernel/route.js';
import type { Signer } from '../../secrets/module.js';
import { keys } from './contract.js';

export const keysResource = ({ rotate }: Pick<Signer, 'rotate'>) =>
  resource('keys', keys, {
    rotate: (_input, by) => rotate((keyId) => by.record({ target: keyId })),
  });
