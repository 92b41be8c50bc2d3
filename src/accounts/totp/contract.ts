import { contract } from '../../kernel/contract/endpoint.js';
import { anyText, flag, list, object, optional, text } from '../../kernel/contract/schema.js';

const code = () => text(40).example('287082');
const password = () =>
  optional(text(256).description('May be left out within 10 minutes of the login'));

const RecoveryCodes = object('RecoveryCodes', { recoveryCodes: list(text(40), 10) });

export const totp = contract({
  setup: {
    method: 'POST',
    path: '/api/auth/totp/setup',
    summary: 'Make a secret for an authenticator app; it counts once `enable` has seen a code',
    personal: true,
    example: { password: 'a sentence that Grace alone knows' },
    body: object('TotpSetup', { password: password() }),
    reply: object('TotpSecret', {
      secret: text(80),
      otpauthUrl: text(500),
      qrSvg: anyText(50_000),
    }),
    secret: true,
  },
  enable: {
    method: 'POST',
    path: '/api/auth/totp/enable',
    summary: 'Require codes from now on; ten recovery codes, shown this once',
    personal: true,
    audit: 'totp.enable',
    example: { code: '492039' },
    body: object('TotpCode', { code: code() }),
    reply: RecoveryCodes,
    secret: true,
  },
  verify: {
    method: 'POST',
    path: '/api/auth/totp/verify',
    summary: 'Check a code',
    personal: true,
    example: { code: '492039' },
    body: object('TotpCheck', { code: code() }),
    reply: object('TotpVerdict', { valid: flag() }),
    secret: true,
  },
  'recovery-codes': {
    method: 'POST',
    path: '/api/auth/totp/recovery-codes',
    summary: 'Make ten new recovery codes, shown this once; the ones before serve no more',
    personal: true,
    audit: 'totp.recovery-codes',
    example: { password: 'a sentence that Grace alone knows' },
    body: object('RecoveryCodesRenewal', { password: password() }),
    reply: RecoveryCodes,
    secret: true,
  },
  disable: {
    method: 'POST',
    path: '/api/auth/totp/disable',
    summary: 'Require codes no more',
    personal: true,
    audit: 'totp.disable',
    example: { password: 'a sentence that Grace alone knows', code: '492039' },
    body: object('TotpEnd', { password: password(), code: code() }),
    secret: true,
  },
});
