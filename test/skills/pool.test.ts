import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type McpConnection, McpFailed } from '../../src/providers/mcp/connection.js';
import { createSessionPool, type SessionPool } from '../../src/skills/pool.js';
import { type FrozenClock, frozenClock } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const KEY = { server: 'one', userId: 'user_1' };
const never = new AbortController().signal;

interface Opened {
  connection: McpConnection;
  end(why: string): void;
}

describe('createPool', () => {
  let clock: FrozenClock;
  let opened: Opened[];
  let closed: number;
  let failing: string | null;
  let pool: SessionPool;

  const open = async (): Promise<McpConnection> => {
    if (failing !== null) throw new McpFailed('unreached', failing);
    let end: (why: string) => void = () => {};
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    const connection: McpConnection = {
      ended,
      definitions: async () => [],
      call: async () => ({ isError: false, text: '' }),
      close: async () => {
        closed += 1;
        end('it was closed');
      },
    };
    opened.push({ connection, end });
    return connection;
  };

  beforeEach(() => {
    [clock, opened, closed, failing] = [frozenClock(), [], 0, null];
    pool = createSessionPool({ open, clock });
  });

  const use = (key = KEY): Promise<number> =>
    pool.use(key, never, async (on) => opened.findIndex(({ connection }) => connection === on));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const sentence = (work: Promise<unknown>): Promise<string> =>
    work.then(String, (error: Error) => error.message);

  it('shares a session of one user, and gives another user another', async () => {
    const all = await Promise.all([use(), use(), use({ ...KEY, userId: 'user_2' })]);
    expect(all).to.equal([0, 0, 1]);
  });

  it('tries what fails ever more rarely, and forgets that once it works', async () => {
    failing = 'it is down';
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await sentence(use())).to.equal('it is down');
      expect(await sentence(use())).to.equal(`it is down. Next attempt in ${seconds} s`);
      clock.forward(seconds * 1000);
    }
    failing = null;
    expect(await use()).to.equal(0);
    expect(pool.troubleOf('one')).to.be.null();
  });

  it('takes a session that ends by itself for trouble', async () => {
    await use();
    opened[0]?.end('it ended with code 1');
    await settled();
    expect(pool.troubleOf('one')?.why).to.equal('it ended with code 1');
    clock.forward(1000);
    expect(await use()).to.equal(1);
  });

  it('begins anew, once, where a session was lost unnoticed', async () => {
    await use();
    const work = async (on: McpConnection): Promise<string> => {
      if (on === opened[0]?.connection) throw new McpFailed('unreached', 'lost');
      return 'done';
    };
    expect(await pool.use(KEY, never, work)).to.equal('done');
    expect([opened.length, closed]).to.equal([2, 1]);
    const lost = async () => {
      throw new McpFailed('unreached', 'lost');
    };
    expect(await sentence(pool.use(KEY, never, lost))).to.equal('lost');
    expect(opened.length).to.equal(3);
  });

  it('does not begin anew where something may have been done', async () => {
    await use();
    for (const kind of ['gone', 'refused', 'wrong'] as const) {
      const work = async () => {
        throw new McpFailed(kind, kind);
      };
      expect(await sentence(pool.use(KEY, never, work))).to.equal(kind);
    }
    expect([opened.length, closed]).to.equal([1, 0]);
  });

  it('ends a session that is silent or given up, unless others use it', async () => {
    const stop = new AbortController();
    const hanging = (signal: AbortSignal) =>
      pool.use(
        KEY,
        signal,
        () =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      );
    const [alone, other] = [new AbortController(), hanging(stop.signal)];
    const first = hanging(alone.signal);
    await settled();
    alone.abort(new Error('stopped'));
    expect(await sentence(first)).to.equal('stopped');
    expect(closed).to.equal(0);
    stop.abort(new Error('stopped too'));
    expect(await sentence(other)).to.equal('stopped too');
    expect(closed).to.equal(1);
    expect(pool.troubleOf('one')).to.be.null();
    const silent = async () => {
      throw new McpFailed('silent', 'no answer');
    };
    expect(await sentence(pool.use(KEY, never, silent))).to.equal('no answer');
    expect(closed).to.equal(2);
  });

  it('ends what nobody uses for five minutes', async () => {
    await use();
    clock.forward(299_999);
    await pool.sweep();
    expect(closed).to.equal(0);
    clock.forward(1);
    await pool.sweep();
    expect([closed, pool.troubleOf('one')]).to.equal([1, null]);
  });

  it('holds at most 32 sessions, and ends the one that is idle longest', async () => {
    for (let count = 0; count < 33; count++) {
      clock.forward(1);
      await use({ ...KEY, userId: `user_${count}` });
    }
    await settled();
    expect(closed).to.equal(1);
    expect(await use({ ...KEY, userId: 'user_1' })).to.equal(1);
  });

  it('ends all when it is closed, and opens none any more', async () => {
    await use();
    await pool.close();
    expect(closed).to.equal(1);
    expect(await sentence(use())).to.equal(
      'The daemon is stopping. Start the daemon, and then try again',
    );
  });
});
