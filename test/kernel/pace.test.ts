import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { QueueFull } from '../../src/kernel/fairqueue.js';
import { createPace } from '../../src/kernel/pace.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('pace', () => {
  /** Pauses that end when they are told to. */
  const paced = (waiting: number) => {
    const pauses: (() => void)[] = [];
    const wait = () => new Promise<void>((end) => pauses.push(end));
    return { pace: createPace({ everyMs: 2000, waiting, wait }), pauses };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('begins the next after the pause, in the order asked', async () => {
    const { pace, pauses } = paced(2);
    const begun: number[] = [];
    const works = [1, 2, 3].map((n) => pace.take('ada', async () => begun.push(n)));
    await settled();
    expect(begun).to.equal([1]);
    pauses.shift()?.();
    await settled();
    expect(begun).to.equal([1, 2]);
    pauses.shift()?.();
    await Promise.all(works);
    expect(begun).to.equal([1, 2, 3]);
  });

  it('waits for the work too, which may be longer, and may fail', async () => {
    const { pace, pauses } = paced(1);
    let end = () => {};
    const long = pace.take(
      'ada',
      () => new Promise<void>((_, fail) => (end = () => fail(new Error('no')))),
    );
    const next = pace.take('ada', async () => 'next');
    await settled();
    pauses.shift()?.();
    await settled();
    expect(pauses.length).to.equal(0);
    end();
    await expect(long).to.reject('no');
    expect(await next).to.equal('next');
  });

  it('refuses what would wait behind as many as may, of that key alone', async () => {
    const { pace } = paced(1);
    void pace.take('ada', async () => undefined);
    void pace.take('ada', async () => undefined);
    await expect(pace.take('ada', async () => undefined)).to.reject(QueueFull);
    expect(await pace.take('bob', async () => 'bob')).to.equal('bob');
  });

  it('refuses none of ten thousand keys for the others', async () => {
    const { pace } = paced(0);
    for (let n = 0; n < 10_000; n++) await pace.take(`name ${n}`, async () => undefined);
    expect(await pace.take('ada', async () => 'ada')).to.equal('ada');
  });

  it('shares the turns among those who ask, however many calls of one wait', async () => {
    const { pace, pauses } = paced(10);
    const begun: string[] = [];
    const take = (asker: string) => pace.take('host', async () => begun.push(asker), { asker });
    const works = [...Array(4).fill('ada'), 'bob', 'bob', 'eve'].map(take);
    for (let n = 0; n < 7; n++) {
      await settled();
      pauses.shift()?.();
    }
    await Promise.all(works);
    expect(begun).to.equal(['ada', 'bob', 'eve', 'ada', 'bob', 'ada', 'ada']);
  });

  it('refuses the last of whoever has the most, and not the first of another', async () => {
    const { pace, pauses } = paced(2);
    const take = (asker: string) => pace.take('host', async () => asker, { asker });
    const calls = ['ada', 'ada', 'ada', 'bob'].map((asker) => take(asker).catch(String));
    await settled();
    for (let n = 0; n < 3; n++) {
      pauses.shift()?.();
      await settled();
    }
    expect(await Promise.all(calls)).to.equal(['ada', 'ada', String(new QueueFull()), 'bob']);
  });

  it('gives the place of a call that is aborted to the next', async () => {
    const { pace } = paced(1);
    void pace.take('host', async () => undefined);
    const { signal, abort } = ((controller) => ({
      signal: controller.signal,
      abort: () => controller.abort(new Error('stopped')),
    }))(new AbortController());
    const waiting = pace.take('host', async () => undefined, { signal });
    await settled();
    abort();
    await expect(waiting).to.reject('stopped');
    const refused = pace
      .take('host', async () => undefined)
      .then(
        () => 'ran',
        () => 'refused',
      );
    await settled();
    expect(await Promise.race([refused, Promise.resolve('waits')])).to.equal('waits');
  });

  it('begins at once where nothing was lately', async () => {
    const { pace, pauses } = paced(0);
    await pace.take('ada', async () => undefined);
    await expect(pace.take('ada', async () => undefined)).to.reject(QueueFull);
    pauses.shift()?.();
    await settled();
    expect(await pace.take('ada', async () => 'again')).to.equal('again');
  });
});
