import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const code = () => s.text(40).example('287082');
const password = () =>
  s.optional(s.text(256).description('May be left out within 10 minutes of the login'));

const RecoveryCodes = s.object('RecoveryCodes', { recoveryCodes: s.list(s.text(40), 10) });

export const totp = contract({
  setup: endpoint.post('/api/auth/totp/setup', {
    summary: 'Make a secret for an authenticator app; it counts once `enable` has seen a code',
    personal: true,
    example: { password: 'a sentence that Grace alone knows' },
    body: s.object('TotpSetup', { password: password() }),
    reply: s.object('TotpSecret', {
      secret: s.text(80),
      otpauthUrl: s.text(500),
      qrSvg: s.anyText(50_000),
    }),
    secret: true,
  }),
  enable: endpoint.post('/api/auth/totp/enable', {
    summary: 'Require codes from now on; ten recovery codes, shown this once',
    personal: true,
    audit: 'totp.enable',
    example: { code: '492039' },
    body: s.object('TotpCode', { code: code() }),
    reply: RecoveryCodes,
    secret: true,
  }),
  verify: endpoint.post('/api/auth/totp/verify', {
    summary: 'Check a code',
    personal: true,
    example: { code: '492039' },
    body: s.object('TotpCheck', { code: code() }),
    reply: s.object('TotpVerdict', { valid: s.flag() }),
    secret: true,
  }),
  'recovery-codes': endpoint.post('/api/auth/totp/recovery-codes', {
    summary: 'Make ten new recovery codes, shown this once; the ones before serve no more',
    personal: true,
    audit: 'totp.recovery-codes',
    example: { password: 'a sentence that Grace alone knows' },
    body: s.object('RecoveryCodesRenewal', { password: password() }),
    reply: RecoveryCodes,
    secret: true,
  }),
  disable: endpoint.post('/api/auth/totp/disable', {
    summary: 'Require codes no more',
    personal: true,
    audit: 'totp.disable',
    example: { password: 'a sentence that Grace alone knows', code: '492039' },
    body: s.object('TotpEnd', { password: password(), code: code() }),
    secret: true,
  }),
});
