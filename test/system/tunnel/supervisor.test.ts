import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { TunnelNotStarted } from '../../../src/providers/tunnels/child.js';
import { createLines } from '../../../src/system/tunnel/lines.js';
import { createSupervisor, type Plan, pauseMs } from '../../../src/system/tunnel/supervisor.js';
import { frozenClock, until } from '../../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('pauseMs()', () => {
  it('doubles up to a minute, and leaves from half to the whole of it to chance', () => {
    expect([0, 1, 2, 3, 6, 50].map((failures) => pauseMs(failures, 1))).to.equal([
      1000, 2000, 4000, 8000, 60_000, 60_000,
    ]);
    expect([pauseMs(0, 0), pauseMs(3, 0), pauseMs(9, 0.5)]).to.equal([500, 4000, 45_000]);
  });
});

describe('createSupervisor()', () => {
  const SLEEP = { path: '/bin/sleep', args: ['600'], env: {}, folders: [] };
  /** A supervisor on a frozen clock, and the process IDs of its program. */
  const open = (plan: () => Promise<Plan>) => {
    const clock = frozenClock();
    const lines = createLines(clock);
    const pids: number[] = [];
    const keep = async (pid: number | null) => {
      if (pid !== null) pids.push(pid);
    };
    const supervisor = createSupervisor({ clock, lines, plan, keep, changed: () => {} });
    const restarted = (count: number) =>
      until(
        async () => supervisor.state(),
        ({ status, restarts }) => status === 'restarting' && restarts === count,
      );
    return { clock, lines, pids, supervisor, restarted };
  };

  it('tries again after pauses that grow', async () => {
    const { clock, supervisor, restarted } = open(async () => {
      throw new TunnelNotStarted('not installed');
    });
    supervisor.start();
    for (let failures = 0; failures < 8; failures++) {
      const { nextTryAt, detail } = await restarted(failures + 1);
      const ms = Date.parse(nextTryAt ?? '') - clock.now();
      expect(detail).to.match(/^not installed/);
      expect(ms).to.be.between(pauseMs(failures, 0) - 1, pauseMs(failures, 1) + 1);
      expect(clock.pending()).to.equal([ms]);
      clock.forward(ms);
    }
    await supervisor.stop();
    expect(clock.pending()).to.equal([]);
  });

  it('restarts a program that is not up within a minute', async () => {
    const { clock, lines, pids, supervisor, restarted } = open(async () => ({
      launch: SLEEP,
      hear: () => ({ line: null }),
    }));
    supervisor.start();
    await until(async () => pids.length, Boolean);
    expect(supervisor.state().status).to.equal('starting');
    clock.forward(60_000);
    expect((await restarted(1)).pid).to.be.null();
    expect(lines.all()[0]?.line).to.equal('adjutant: not running after 60 s, restarting');
    clock.forward(1000);
    await until(async () => pids.length === 2, Boolean);
    await supervisor.stop();
    expect(supervisor.state().status).to.equal('off');
  });
});
