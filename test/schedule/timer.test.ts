import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createTimer } from '../../src/schedule/module.js';
import { frozenClock } from '../harness/app.js';
import { openScratch, type Scratch } from '../store/scratch.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const HOUR = 3_600_000;

describe('a timer', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
  });
  afterEach(() => scratch.remove());

  const clock = frozenClock(Date.parse('2026-03-01T12:00:00.000Z'));
  const open = (work: (signal?: AbortSignal) => Promise<void> = async () => undefined) =>
    createTimer(
      { store: scratch.store, clock },
      { name: 'sweeping', everyMs: HOUR, settlingMs: 60_000, work },
    );

  it('is due some time after the first start, then at its intervals', async () => {
    const timer = open();
    expect(await timer.nextAt()).to.equal('2026-03-01T12:01:00.000Z');
    clock.forward(60_000);
    await timer.tick();
    expect(await timer.nextAt()).to.equal('2026-03-01T13:01:00.000Z');
  });

  it('keeps its due time over a restart, and waits a while where it has passed', async () => {
    await open().tick();
    const dueAt = await open().nextAt();
    expect(dueAt).to.equal('2026-03-01T13:01:00.000Z');
    clock.forward(5 * HOUR);
    expect(await open().nextAt()).to.equal('2026-03-01T17:02:00.000Z');
  });

  it('is due after an interval at the latest where the clock was set back', async () => {
    const timer = open();
    await timer.tick();
    clock.shift(-48 * HOUR);
    expect(await open().nextAt()).to.equal(new Date(clock.now() + HOUR).toISOString());
    clock.forward(48 * HOUR);
  });

  it('stays due where its work fails or is broken off', async () => {
    const failing = open(async () => {
      throw new Error('it broke');
    });
    await expect(failing.tick()).to.reject('it broke');
    await open().tick(AbortSignal.abort());
    expect(await scratch.store.db.selectFrom('timers').selectAll().execute()).to.equal([]);
  });
});
