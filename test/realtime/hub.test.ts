import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHub, readOrWait } from '../../src/realtime/hub.js';
import { frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

const wait = { userId: 'u', channels: ['c'], ms: 10_000, signal: new AbortController().signal };

describe('createHub', () => {
  it('tells the listeners of that user and channel alone, and followers everything', () => {
    const hub = createHub(frozenClock());
    const heard: unknown[] = [];
    const all: unknown[] = [];
    hub.follow((...what) => all.push(what));
    const leave = hub.listen('u', 'c', (data) => heard.push(data));
    hub.publish('u', 'c', 1);
    hub.publish('u', 'other', 2);
    hub.publish('v', 'c', 3);
    leave();
    hub.publish('u', 'c', 4);
    expect(heard).to.equal([1]);
    expect(all).to.equal([
      ['u', 'c', 1],
      ['u', 'other', 2],
      ['v', 'c', 3],
      ['u', 'c', 4],
    ]);
  });
});

describe('readOrWait', () => {
  it('returns at once what is there, and nothing when nothing is to be waited for', async () => {
    const hub = createHub(frozenClock());
    expect(await readOrWait(hub, wait, async () => [1])).to.equal([1]);
    expect(await readOrWait(hub, { ...wait, ms: 0 }, async () => [])).to.equal([]);
  });

  it('reads again at a publication, also one that came during the first reading', async () => {
    const hub = createHub(frozenClock());
    let reads = 0;
    const found = await readOrWait(hub, wait, async () => {
      hub.publish('u', 'c', null);
      return ++reads === 1 ? [] : [reads];
    });
    expect(found).to.equal([2]);
  });

  it('ends with what it has when nobody is to wait any longer, now or later', async () => {
    const hub = createHub(frozenClock());
    let there: number[] = [];
    const waiting = readOrWait(hub, wait, async () => there);
    await new Promise((resolve) => setImmediate(resolve));
    there = [1];
    hub.endWaits();
    expect(await waiting).to.equal([1]);
    expect(await readOrWait(hub, wait, async () => [])).to.equal([]);
  });

  it('does not read for publications that concern others', async () => {
    const hub = createHub(frozenClock());
    let reads = 0;
    const waiting = readOrWait(hub, { ...wait, concerns: (data) => data === 'mine' }, async () =>
      ++reads === 1 ? [] : [reads],
    );
    await new Promise((resolve) => setImmediate(resolve));
    hub.publish('u', 'c', 'theirs');
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads).to.equal(1);
    hub.publish('u', 'c', 'mine');
    expect(await waiting).to.equal([2]);
  });

  it('ends with nothing when the time is over or the one who waits is gone', async () => {
    const clock = frozenClock();
    const hub = createHub(clock);
    const late = readOrWait(hub, wait, async () => []);
    await clock.waiting(wait.ms);
    clock.forward(wait.ms);
    expect(await late).to.equal([]);
    expect(clock.pending()).to.equal([]);
    const away = new AbortController();
    const waiting = readOrWait(hub, { ...wait, signal: away.signal }, async () => []);
    away.abort();
    expect(await waiting).to.equal([]);
  });
});
