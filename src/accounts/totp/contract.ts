import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const code = () => s.text(40).example('287082');
const password = () =>
  s.optional(
    s.text(256).description('Your password. May be omitted within 10 minutes of the login'),
  );

const RecoveryCodes = s.object('RecoveryCodes', { recoveryCodes: s.list(s.text(40), 10) });

export const totp = contract({
  setup: endpoint.post('/api/auth/totp/setup', {
    summary: 'Create a secret for an authenticator app',
    description:
      'Logins with a password do not require a code until two-factor authentication is enabled.',
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
    summary: 'Enable two-factor authentication',
    description:
      'After this request, logins with a password require a code. The ten recovery codes are shown only once.',
    personal: true,
    audit: 'totp.enable',
    example: { code: '492039' },
    body: s.object('TotpCode', { code: code() }),
    reply: RecoveryCodes,
    secret: true,
  }),
  verify: endpoint.post('/api/auth/totp/verify', {
    summary: 'Test a code of enabled two-factor authentication',
    description:
      'Enables nothing and starts no login session, but uses up the code. Fails with 401 if the code is wrong or was already used, which counts as a failed attempt.',
    personal: true,
    example: { code: '492039' },
    body: s.object('TotpCheck', { code: code() }),
    reply: s.object('TotpVerdict', { valid: s.boolean() }),
    secret: true,
  }),
  'recovery-codes': endpoint.post('/api/auth/totp/recovery-codes', {
    summary: 'Create new recovery codes',
    description: 'The ten codes are shown only once. Earlier recovery codes become invalid.',
    personal: true,
    audit: 'totp.recovery-codes',
    example: { password: 'a sentence that Grace alone knows' },
    body: s.object('RecoveryCodesRenewal', { password: password() }),
    reply: RecoveryCodes,
    secret: true,
  }),
  disable: endpoint.post('/api/auth/totp/disable', {
    summary: 'Disable two-factor authentication',
    description: 'Logins with a password no longer require a code. The recovery codes are deleted.',
    personal: true,
    audit: 'totp.disable',
    example: { password: 'a sentence that Grace alone knows', code: '492039' },
    body: s.object('TotpEnd', {
      password: password(),
      code: code().description('Code of the authenticator app, or a recovery code'),
    }),
    secret: true,
  }),
});
