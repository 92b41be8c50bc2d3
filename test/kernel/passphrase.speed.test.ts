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

  it('spends nothing on a header that asks for too much', async () => {
    const since = performance.now();
    for (const [ours, theirs] of [
      ['"memoryKiB":65536', '"memoryKiB":99999999'],
      ['"memoryKiB":65536', '"memoryKiB":0'],
      ['"passes":3', '"passes":999'],
      ['"lanes":1', '"lanes":99'],
    ] as const) {
      const text = sealed.toString('latin1').replace(ours, theirs);
      await refused(PASSPHRASE, Buffer.from(text, 'latin1'));
    }
    expect(performance.now() - since).to.be.below(1000);
  });
});
