import { createHmac, createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type HookKeys, verifyHookProofs } from '../../../src/hooks/inbound/proof.js';
import { PRESETS } from '../../../src/hooks/senders/presets.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KEY = createSecretKey(Buffer.from('a signing key of some length'));
const body = Buffer.from('{"n":1}');
const signature = createHmac('sha256', KEY).update(body).digest('hex');

/** Headers as node:http gives those that may stand several times. */
const LISTED = JSON.parse('{"set-cookie":["a=1"]}');

describe('proofsOf', () => {
  const proofs = (...hooks: HookKeys[]) =>
    verifyHookProofs({
      ...{ hooks, body, url: null, sns: null, now: 0 },
      headers: { 'x-gitea-signature': signature },
    });
  const gitea: HookKeys = { keys: [KEY], recipe: PRESETS.gitea };

  it('gives the proof of each hook, beside a hook that cannot be tried', () => {
    const faulty: HookKeys = {
      keys: [KEY],
      get recipe(): never {
        throw new Error('no recipe');
      },
    };
    expect(proofs(gitea, faulty, { ...gitea, keys: [] }, gitea)).to.equal([
      { at: 0, scheme: 'sender' },
      { fault: 'Error: no recipe' },
      null,
      { at: 0, scheme: 'sender' },
    ]);
  });

  it('takes the names of headers for nothing else', () => {
    const names = ['constructor', '__proto__', 'toString', 'set-cookie'];
    const recipes = names.flatMap((name) => [
      { ...PRESETS.gitea, header: name },
      { ...PRESETS.gitlab, header: name },
      { ...PRESETS.slack, header: 'x-gitea-signature', timestampHeader: name },
      { ...PRESETS.gitea, signed: '{id}{body}', idFrom: `headers.${name}` },
    ]);
    const found = verifyHookProofs({
      hooks: recipes.map((recipe) => ({ keys: [KEY], recipe })),
      ...{ body, url: null, sns: null, now: 0 },
      headers: { 'x-gitea-signature': signature, ...LISTED },
    });
    expect(found).to.equal(recipes.map(() => null));
  });
});
