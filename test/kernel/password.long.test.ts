import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { hash as hashAsGiven } from '@node-rs/argon2';
import { createPasswords, PasswordsBusy } from '../../src/kernel/password.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HERE = '127.0.0.1';
const COST = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

describe('passwords', () => {
  it('hashes with argon2id, 19 MiB, 2 passes, 1 lane', async () => {
    const hash = await createPasswords().hash('correct horse');
    expect(hash).to.startWith('$argon2id$v=19$m=19456,t=2,p=1$');
  });

  it('knows the password from all others', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    expect(await passwords.verify(hash, 'correct horse', HERE)).to.be.true();
    expect(await passwords.verify(hash, 'Correct horse', HERE)).to.be.false();
    expect(await passwords.verify(hash, '', HERE)).to.be.false();
  });

  it('salts: one password has two hashes', async () => {
    const passwords = createPasswords();
    expect(await passwords.hash('same')).to.not.equal(await passwords.hash('same'));
  });

  it('knows one password in every form of it, and one that was hashed in another than NFC', async () => {
    const passwords = createPasswords();
    const [composed, decomposed] = ['Grüße an alle', 'Gru\u0308ße an alle'];
    const hash = await passwords.hash(decomposed);
    for (const given of [composed, decomposed]) {
      expect(await passwords.verify(hash, given, HERE)).to.be.true();
    }
    const older = await hashAsGiven(decomposed, COST);
    expect(await passwords.verify(older, decomposed, HERE)).to.be.true();
    expect(await passwords.verify(older, 'Gruße an alle', HERE)).to.be.false();
  });

  it('hashes for nobody, and for an account without a password, too', async () => {
    // A cost that no hash can have shows that one is begun.
    const passwords = createPasswords({ memoryCost: 1, timeCost: 1, parallelism: 1 });
    for (const nobody of [null, '']) {
      const checked = passwords.verify(nobody, 'wrong', HERE);
      await expect(checked).to.reject('Memory cost is too small');
    }
  });

  it('refuses what would wait behind fifty, and takes work again afterwards', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const all = Array.from({ length: 60 }, () => passwords.verify(hash, 'wrong', HERE));
    const ended = await Promise.allSettled(all);
    const refused = ended.filter(({ status }) => status === 'rejected');
    expect(refused.length).to.equal(8);
    for (const each of refused) {
      expect(each.status === 'rejected' && each.reason).to.be.instanceOf(PasswordsBusy);
    }
    expect(await passwords.verify(hash, 'wrong', HERE)).to.be.false();
  });

  it('refuses nobody where many names come that nobody has, whoever comes last', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const flood = (name: string) =>
      Array.from({ length: 100 }, (_, n) => passwords.verify(null, 'wrong', `${name} ${n}`));
    const before = flood('before');
    const owner = passwords.verify(hash, 'correct horse', 'owner');
    const guess = passwords.verify(hash, 'wrong', 'guess');
    const all = await Promise.all([owner, guess, ...before, ...flood('after')]);
    expect([all[0], all.filter((isRight) => isRight).length]).to.equal([true, 1]);
  });

  it('lets who is known go first, however many wait', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const refused: string[] = [];
    const ask = (name: string, by?: { isKnown: boolean }) =>
      passwords.verify(hash, 'correct horse', name, by).catch(() => {
        refused.push(name);
      });
    const all = [ask('a'), ask('b'), ask('known', { isKnown: true })];
    for (let n = 0; n < 60; n++) all.push(ask(`other ${n}`));
    expect(await all[2]).to.be.true();
    await Promise.all(all);
    expect([refused.length, refused.includes('known')]).to.equal([11, false]);
  });

  it('takes one from elsewhere while an address floods it', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const flood = Array.from({ length: 200 }, () => passwords.verify(hash, 'wrong', '192.0.2.1'));
    const over = Promise.allSettled(flood).then(() => 'the flood is over');
    const owner = passwords.verify(hash, 'correct horse', '192.0.2.2');
    expect(await Promise.race([owner, over])).to.be.true();
    await over;
  });
});
