import { randomBytes } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { redactInWorker, redactTextInWorker } from '../../src/kernel/redactinworker.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRETS = Array.from({ length: 100 }, () => randomBytes(30).toString('base64'));
const [KEY = ''] = SECRETS;
const NONSENSE = '\\%&=+#x0123456789abcdefu{};"\n';
const MEGABYTE = 1024 * 1024;

const nonsense = (): string =>
  Array.from(randomBytes(MEGABYTE), (byte) => NONSENSE[byte % NONSENSE.length]).join('');

/** What it takes, and how often others had the event loop meanwhile. */
const beside = async <T>(work: Promise<T>): Promise<{ done: T; turns: number }> => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const done = await work;
  isDone = true;
  return { done, turns };
};

describe('redaction of large texts', () => {
  it('finds one of a hundred keys in a megabyte of nonsense, beside the event loop', async () => {
    const text = nonsense();
    const written = KEY.replaceAll('+', '\\u002B').replaceAll('/', '&sol;');
    const all = `${text} ${written} ${text.slice(0, 1000)}`;
    const { done, turns } = await beside(redactTextInWorker(all, SECRETS));
    expect(done.slice(text.length, text.length + 10)).to.equal(' [secret] ');
    expect(turns).to.be.above(100);
  });

  it('finds a key in a megabyte of nothing but escapes', async () => {
    for (const one of ['\\', '%5c', '\\u005c', '&amp;', '=3D']) {
      const text = one.repeat(MEGABYTE / 8 / one.length);
      const { done } = await beside(redactTextInWorker(`${text} ${KEY}`, SECRETS));
      expect(done === `${text} [secret]`, one).to.equal(true);
    }
  });

  /** Characters that begin an escape, whole escapes, and words that begin at each place. */
  it('leaves no text of 64 KiB that takes long to the event loop', async () => {
    const signs = ['\\', '%', '&', '=', '+'];
    const escapes = ['\\5c ', '%C3%A9'];
    const breaks = ['=\n', `${'a'.repeat(10)}\n \n  `, `aaaa${'\n'.repeat(60)}`];
    const secrets = [KEY, 'a'.repeat(64), '+'.repeat(20), '\\'.repeat(20)];
    for (const one of [...signs, ...escapes, ...breaks]) {
      const text = one.repeat(65_000 / one.length);
      const { turns } = await beside(redactTextInWorker(text, secrets));
      expect(turns, one).to.be.above(2);
    }
  });

  it('keeps to the event loop what takes little', async () => {
    const text = 'A line of prose: 100% & more, C:\\path, a=b+c\n'.repeat(200);
    const { done, turns } = await beside(redactTextInWorker(`${text}${KEY}`, [KEY]));
    expect(done === `${text}[secret]`).to.be.true();
    expect(turns).to.be.at.most(2);
  });

  it('counts what all texts of a value take together', async () => {
    const value = Array.from({ length: 6_000 }, () => '+');
    expect((await beside(redactInWorker(value, [KEY]))).turns).to.be.above(2);
  });

  it('goes through all that a value holds, in a thread or here', async () => {
    for (const size of [10, MEGABYTE]) {
      const filling = 'x'.repeat(size);
      const value = { [KEY]: [filling, KEY, 5, null, { at: `k=${KEY}` }], ok: true };
      expect(await redactInWorker(value, [KEY], '[hidden]')).to.equal({
        '[hidden]': [filling, '[hidden]', 5, null, { at: 'k=[hidden]' }],
        ok: true,
      });
    }
  });

  it('finds a secret of 64 KiB, in base64 too', async () => {
    const long = randomBytes(32_768).toString('hex');
    expect(await redactTextInWorker(`a ${long} b`, [long])).to.equal('a [secret] b');
    const encoded = Buffer.from(long).toString('base64');
    expect(await redactTextInWorker(`a ${encoded} b`, [long])).to.equal('a [secret] b');
  });

  it('leaves a value alone where there are no secrets', async () => {
    expect(await redactTextInWorker('nothing', [])).to.equal('nothing');
  });
});
