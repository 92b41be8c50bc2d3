import { resource } from '../../kernel/route.js';
import { totp } from './contract.js';
import { disable, enable, renewCodes, setUp, type TotpDeps, verify } from './service.js';

export const totpResource = (deps: TotpDeps) =>
  resource('totp', totp, {
    setup: ({ body }, by) => setUp(deps, by, body.password),
    enable: ({ body }, by) => enable(deps, by, body.code),
    verify: async ({ body }, by) => {
      await verify(deps, by, body.code);
      return { valid: true };
    },
    'recovery-codes': ({ body }, by) => renewCodes(deps, by, body.password),
    disable: ({ body }, by) => disable(deps, by, body),
  });
