import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../../src/kernel/http.js';
import { createPageClient } from '../../../src/providers/pages/request.js';
import { type FrozenClock, frozenClock } from '../../harness/clock.js';
import { type Listening, listen } from '../../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('createPageClient', () => {
  let server: Listening;
  let http: Http;
  let clock: FrozenClock;
  beforeEach(async () => {
    server = await listen();
    http = createHttp({ allow: [server.entry] });
    clock = frozenClock();
  });
  afterEach(async () => {
    await http.close();
    await server.close();
  });
  const reader = () => {
    const getPage = createPageClient({ http, clock });
    return (signal: AbortSignal, userId = 'ada') =>
      getPage(`${server.origin}/page`, { userId, signal });
  };
  const never = new AbortController().signal;

  it('says who it is, and asks a host once per second', async () => {
    const read = reader();
    const [first, ...others] = [read(never), read(never), read(never)];
    await first;
    for (const next of others) {
      const asked = server.got.length;
      clock.forward(999);
      expect(server.got.length).to.equal(asked);
      await clock.waiting(1);
      clock.forward(1);
      await next;
      expect(server.got.length).to.equal(asked + 1);
    }
    expect(server.got[0]?.headers['user-agent']).to.match(
      /^adjutant\/\d+\.\d+\.\d+ \(reads a page for a person\)$/,
    );
  });

  it('stops at once when it is aborted, also while it waits for its turn', async () => {
    const read = reader();
    await read(never);
    const controller = new AbortController();
    const reading = read(controller.signal).catch(String);
    controller.abort(new Error('stopped'));
    expect(await reading).to.equal('Error: stopped');
  });
});
