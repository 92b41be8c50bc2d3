import { createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ReceivingHook } from '../../../src/hooks/inbound/receivinghooks.js';
import { createSecretFilter } from '../../../src/hooks/inbound/redactheaders.js';
import { resolveSender } from '../../../src/hooks/senders/open.js';
import type { PresetName } from '../../../src/hooks/senders/presets.js';

export const lab = Lab.script();
const { describe, it } = lab;

const hookOf = (secret: string, preset: PresetName | null = null): ReceivingHook => ({
  ...{ id: 'hook_1', userId: 'user_1', name: 'a', path: 'a', action: 'notify', isEnabled: true },
  secrets: [{ key: createSecretKey(Buffer.from(secret)), until: null, isOld: false }],
  sender: preset && resolveSender(preset),
  credentialId: null,
  row: null,
});
const firing = (hook: ReceivingHook) => [
  { hook, usedOldSecret: false, key: null, by: 'secret' as const, digest: null },
];

describe('unkeptOf', () => {
  const SECRET = 'a+secret/of ä hook';

  it('finds a secret as it is, with %xx, and in base64 at any place', () => {
    const { holdsSecret } = createSecretFilter(firing(hookOf(SECRET)), []);
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const texts = [
      `the ${SECRET}!`,
      Buffer.from(SECRET).toString('latin1'),
      encodeURIComponent(SECRET),
      encodeURIComponent(SECRET).toLowerCase(),
      new URLSearchParams({ a: SECRET }).toString(),
      ...['', 'a', 'ab', 'abc'].map((before) => base64(`${before}${SECRET}`)),
      ...['', 'a', 'ab', 'abc'].map((before) => base64(`${before}${SECRET}and more`)),
      Buffer.from(SECRET).toString('base64url'),
      encodeURIComponent(base64(`x:${SECRET}`)),
    ];
    for (const text of texts) expect(holdsSecret(text), text).to.be.true();
    for (const text of ['', 'a', SECRET.slice(1), base64('another')]) {
      expect(holdsSecret(text), text).to.be.false();
    }
  });

  it('finds a secret in the base64 of addresses', () => {
    const secret = '???>>>~~~???';
    const { holdsSecret } = createSecretFilter(firing(hookOf(secret)), []);
    const text = Buffer.from(secret).toString('base64url');
    expect([/[-_]/.test(text), holdsSecret(text)]).to.equal([true, true]);
  });

  it('finds the password of a user by itself', () => {
    const { holdsSecret } = createSecretFilter(firing(hookOf('ada:pass word', 'basic')), []);
    expect([holdsSecret('pass word'), holdsSecret('ada')]).to.equal([true, false]);
  });

  it('finds the secret that a hook has now, not the one that it had before', () => {
    const before = hookOf('ada:first secret');
    const now = { ...before, secrets: hookOf('ada:second secret').secrets };
    const isFound = (hook: ReceivingHook, text: string) =>
      createSecretFilter(firing(hook), []).holdsSecret(text);
    expect(isFound(before, 'ada:first secret')).to.be.true();
    expect(isFound(now, 'ada:first secret')).to.be.false();
    expect(isFound(now, 'ada:second secret')).to.be.true();
    const basic = { ...now, sender: resolveSender('basic') };
    expect([isFound(now, 'second secret'), isFound(basic, 'second secret')]).to.equal([
      false,
      true,
    ]);
  });

  it('finds the secrets of all hooks on the path, unless they are short', () => {
    const others = [hookOf('the secret of another'), hookOf('json')];
    const { holdsSecret, headers } = createSecretFilter(firing(hookOf('own', 'gitea')), others);
    expect(headers).to.equal(['x-gitea-signature']);
    const found = ['the secret of another', 'my own', 'application/json'].map(holdsSecret);
    expect(found).to.equal([true, true, false]);
  });
});
