import { Readable } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const signal = new AbortController().signal;

/** A content that breaks off with the error. */
const failing = (error: Error): Readable =>
  Readable.from(
    (async function* () {
      yield Buffer.from('The beginning');
      throw error;
    })(),
  );

describe('a file that arrives', () => {
  let app: TestApp;
  let userId: string;
  before(async () => {
    app = await startApp();
    ({ id: userId } = await app.register('ada'));
  });
  after(() => app.stop());

  const keep = (content: Readable, filename = 'a.txt') =>
    inside(app.app).arrivals.keep(userId, { filename, content });

  it('is a document, once for each content, and can be waited for', async () => {
    const first = await keep(Readable.from([Buffer.from('The '), Buffer.from('content.')]));
    const again = await keep(Readable.from([Buffer.from('The content.')]), 'b.txt');
    const id = 'id' in first ? first.id : '';
    expect([first, again]).to.equal([
      { name: 'a.txt', id, isKnown: false },
      { name: 'a.txt', id, isKnown: true },
    ]);
    const { arrivals } = inside(app.app);
    const read = await arrivals.whenRead(userId, id, { waitMs: 20_000, signal });
    expect(read).to.include({ status: 'completed', pages: 1, error: null });
    expect(await arrivals.whenRead('user_x', id, { waitMs: 20_000, signal })).to.be.null();
  });

  it('is refused with a reason if the disk is full, and passes other errors on', async () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    expect(await keep(failing(full), '../b.txt')).to.equal({
      name: 'b.txt',
      reason: 'cannot be stored: The disk of the daemon is full. No file of this upload was stored',
    });
    await expect(keep(failing(new Error('broken off')))).to.reject('broken off');
  });
});
