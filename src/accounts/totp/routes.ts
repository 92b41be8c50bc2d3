import { resource } from '../../kernel/route.js';
import { totp } from './contract.js';
import {
  disableTotp,
  enableTotp,
  renewRecoveryCodes,
  setUpTotp,
  type TotpDeps,
  verifyCode,
} from './service.js';

export const totpResource = (deps: TotpDeps) =>
  resource('totp', totp, {
    setup: ({ body }, by) => setUpTotp(deps, by, body.password),
    enable: ({ body }, by) => enableTotp(deps, by, body.code),
    verify: async ({ body }, by) => {
      await verifyCode(deps, by, body.code);
      return { valid: true };
    },
    'recovery-codes': ({ body }, by) => renewRecoveryCodes(deps, by, body.password),
    disable: ({ body }, by) => disableTotp(deps, by, body),
  });
