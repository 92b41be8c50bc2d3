import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPasswords } from '../../src/kernel/password.js';
import { measureInTurn } from '../harness/alternate.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HERE = '127.0.0.1';

describe('passwords', () => {
  it('costs the same for a form that is not NFC, whether somebody has a hash or nobody', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const [known = 0, unknown = 0] = await measureInTurn([hash, null], (each) =>
      passwords.verify(each, 'wro\u0308ng', HERE),
    );
    expect(unknown / known).to.be.within(0.4, 2.5);
  });

  it('costs the same without a hash', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    const [known = 0, unknown = 0] = await measureInTurn([hash, null], (each) =>
      passwords.verify(each, 'wrong', HERE),
    );
    expect(unknown / known).to.be.within(0.4, 2.5);
  });

  it('takes as long for nobody as for somebody while many names come that nobody has', async () => {
    const passwords = createPasswords();
    const hash = await passwords.hash('correct horse');
    let isOver = false;
    const flood = Array.from({ length: 40 }, async (_, n) => {
      for (let count = 0; !isOver; count++) await passwords.verify(null, 'x', `${n} ${count}`);
    });
    // Each waits for its turn among forty, which is longer by chance: so often that the shortest is not.
    const [known = 0, unknown = 0] = await measureInTurn(
      [hash, null],
      (each, round) => passwords.verify(each, 'wrong', `asker ${round} ${each === null}`),
      24,
    );
    isOver = true;
    await Promise.all(flood);
    expect(unknown / known).to.be.within(0.4, 2.5);
  });
});
