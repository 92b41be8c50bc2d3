import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openWith, PassphraseError, sealWith } from '../../src/kernel/passphrase.js';

export const lab = Lab.script();
const { before, describe, it } = lab;

const PASSPHRASE = 'korrekt café pferd';

describe('passphrase', () => {
  let sealed: Buffer;
  before(async () => {
    sealed = await sealWith(PASSPHRASE, Buffer.from('the keys'));
  });
  const refused = async (passphrase: string, bytes: Buffer): Promise<void> => {
    await expect(openWith(passphrase, bytes)).to.reject(PassphraseError);
  };

  it('opens what it sealed, however an accent is typed', async () => {
    expect((await openWith(PASSPHRASE, sealed)).toString()).to.equal('the keys');
    expect((await openWith(PASSPHRASE.normalize('NFD'), sealed)).toString()).to.equal('the keys');
    expect(sealed.includes('the keys')).to.be.false();
  });

  it('says with what it was sealed', () => {
    const { salt, nonce, ...header } = JSON.parse(sealed.toString('latin1').split('\n')[0] ?? '');
    expect(header).to.equal({
      version: 1,
      kdf: 'argon2id',
      memoryKiB: 65_536,
      passes: 3,
      lanes: 1,
      cipher: 'aes-256-gcm',
    });
    expect([salt.length, nonce.length]).to.equal([24, 16]);
  });

  it('opens with no other passphrase', async () => {
    for (const other of ['', `${PASSPHRASE} `, 'Korrekt café pferd']) await refused(other, sealed);
  });

  it('opens nothing that was changed', async () => {
    for (let at = 0; at < sealed.length; at += 17) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await refused(PASSPHRASE, changed);
    }
    for (const length of [0, 10, 170, sealed.length - 1]) {
      await refused(PASSPHRASE, sealed.subarray(0, length));
    }
  });

  it('spends nothing on a header that asks for too much', async () => {
    for (const [ours, theirs] of [
      ['"memoryKiB":65536', '"memoryKiB":99999999'],
      ['"memoryKiB":65536', '"memoryKiB":0'],
      ['"passes":3', '"passes":999'],
      ['"lanes":1', '"lanes":99'],
    ] as const) {
      const text = sealed.toString('latin1').replace(ours, theirs);
      await refused(PASSPHRASE, Buffer.from(text, 'latin1'));
    }
  });
});
