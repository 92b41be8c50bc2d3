import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { renderProgressBar } from '../../../cli/operations/bar.js';
import { localTime } from '../../../cli/text.js';
import type { Operation } from '../../../src/client/index.js';
import { frozenClock } from '../../harness/clock.js';
import { waitingOperation } from '../../harness/operation.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget } from '../../harness/target.js';
import { adjutant } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

const operation = (done: number, total: number | null): Operation => ({
  ...{ id: 'operation_1', orgId: null, kind: 'hooks.replay', title: 'Replay', status: 'running' },
  ...{ resource: { kind: 'user', id: 'user_1' }, result: null, error: null },
  ...{ createdAt: '', startedAt: null, finishedAt: null },
  progress: { done, total, unit: 'runs', note: null },
});

describe('the bar of an operation', () => {
  it('says how far it is, its rate and the time left', () => {
    expect(renderProgressBar(operation(800, 2000), { at: 0, done: 200 }, 5000)).to.equal(
      '[########············]  40 %  800 of 2,000 runs  120/s  10 s left',
    );
  });

  it('says no rate before it can tell one, and no time left without a total', () => {
    expect(renderProgressBar(operation(1, 3), { at: 0, done: 0 }, 500)).to.equal(
      '[#######·············]  33 %  1 of 3 runs',
    );
    expect(renderProgressBar(operation(5, null), { at: 0, done: 0 }, 2000)).to.equal(
      '5 runs  2.5/s',
    );
    expect(renderProgressBar(operation(3, 3), { at: 0, done: 0 }, 2000)).to.match(
      /100 % {2}3 of 3 runs {2}1.5\/s$/,
    );
  });
});

describe('an operation whose last byte has arrived', () => {
  it('says what is still done', () => {
    const { progress, ...rest } = operation(3, 3);
    const checking = { ...rest, progress: progress && { ...progress, note: 'checking the files' } };
    expect(renderProgressBar(checking, { at: 0, done: 0 }, 2000)).to.equal(
      '[####################] 100 %  checking the files',
    );
  });
});

describe('an operation that waits to try again', () => {
  it('says which try comes when, and why, in place of its rate', () => {
    const nextAt = '2026-03-01T12:00:00.000Z';
    const retry = { attempt: 3, of: 8, nextAt, reason: 'ECONNREFUSED' };
    const { progress, ...rest } = operation(800, 2000);
    const waiting = { ...rest, progress: progress && { ...progress, retry } };
    expect(renderProgressBar(waiting, { at: 0, done: 200 }, 5000)).to.equal(
      `try 3 of 8 at ${localTime(nextAt)}: ECONNREFUSED, at 800 of 2,000 runs`,
    );
  });
});

describe('a daemon that goes away', () => {
  it('is waited for', async () => {
    const target = await openTarget();
    const id = `operation_${'0'.repeat(26)}`;
    const begun = { ...operation(1, 2), id };
    target.answer = (response, nth) => {
      // The client tries three times, then the command waits.
      if (nth >= 2 && nth <= 4) return void response.destroy();
      response.setHeader('x-request-id', 'request_1');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(nth === 1 ? begun : { ...begun, status: 'completed' }));
    };
    const words = ['operations', 'watch', id, '--server', target.url, '--server-token-file'];
    const clock = frozenClock();
    const done = adjutant([...words, '/dev/null'], { terminal: 80, clock });
    for (const ms of [250, 500, 1000]) {
      await clock.waiting(ms);
      clock.forward(ms);
    }
    const watched = await done;
    target.close();
    expect([watched.code, watched.stderr]).to.equal([0, 'Done: Replay.\n']);
    expect(target.received.length).to.equal(5);
  });
});

describe('^C', () => {
  const world = openForSuite(lab, openWorld);

  const begin = async (): Promise<string> =>
    waitingOperation(world.app, (await world.client.auth.me()).id);
  const status = async (id: string) => (await world.client.operations.get({ id })).status;
  const watch = (id: string, answer: string) =>
    world.cli(['operations', 'watch', id], {
      ...{ terminal: 80, answers: [answer], until: /1 of 2 steps/ },
    });

  it('asks if it is to be cancelled; without a yes it goes on', async () => {
    const id = await begin();
    const left = await watch(id, '');
    expect(left.code).to.equal(130);
    expect(left.stderr).to.include('Cancel it, too? Otherwise it continues. [y/N]');
    expect(left.stderr).to.include(`Follow it: adjutant operations watch ${id.slice(-6)}`);
    expect(await status(id)).to.equal('running');
    const cancelled = await watch(id, 'y');
    expect([cancelled.code, cancelled.stderr.includes('Cancelled. Last state: 1 done.')]).to.equal([
      ...[130, true],
    ]);
    expect(await status(id)).to.equal('cancelled');
    const ended = await world.cli(['operations', 'watch', id]);
    expect([ended.code, ended.stderr.split('\n')[0]]).to.equal([
      1,
      'The operation ended with the status cancelled.',
    ]);
  });

  it('asks the same of research that is followed step by step', async () => {
    const target = await openTarget();
    const id = `operation_${'0'.repeat(26)}`;
    const progress = { done: 0, total: null, unit: 'sources', note: 'Planning' };
    target.answer = (response, nth) => {
      // The third request waits for the next step, which does not come.
      if (nth > 2) return;
      response.setHeader('x-request-id', 'request_1');
      response.setHeader('content-type', 'application/json');
      const begun = { id: `research_${'0'.repeat(26)}`, operationId: id };
      response.end(JSON.stringify(nth === 1 ? begun : { ...operation(0, null), id, progress }));
    };
    const words = ['research', 'start', 'Why?', '--follow', '--server', target.url];
    const left = await adjutant([...words, '--server-token-file', '/dev/null'], {
      ...{ terminal: 80, answers: [''], until: /Planning/ },
    });
    target.close();
    expect(left.code).to.equal(130);
    expect(left.stderr).to.include('Cancel it, too? Otherwise it continues. [y/N]');
  });
});
