import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computeReconnectPauses } from '../../src/client/backoff.js';
import { Unreachable } from '../../src/client/errors.js';
import { followEvents, type ServerEvent } from '../../src/client/events.js';
import { frozenClock } from '../harness/clock.js';
import { type Listening, listen } from '../kernel/listen.js';

const LOCAL_PAUSE_MS = 400;

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('followEvents', () => {
  let server: Listening;
  afterEach(() => server.close());

  const stream = { 'content-type': 'text/event-stream' };
  const all = async (clock = frozenClock()): Promise<ServerEvent[]> => {
    const told: ServerEvent[] = [];
    const to = { url: server.origin, token: undefined, signal: undefined, clock };
    const lost = (): void => undefined;
    const of = { path: '/begin', body: {}, resumeAt: () => '/resume', last: 'end', lost };
    for await (const event of followEvents(to, of)) told.push(event);
    return told;
  };

  it('throws Unreachable where nobody listens, and says that nothing was done', async () => {
    server = await listen();
    await server.close();
    const error = await all().catch((reason: unknown) => reason);
    expect(error).to.be.an.error(Unreachable);
    expect(error instanceof Unreachable && [error.reason, error.mayHaveActed]).to.equal([
      'connection refused',
      false,
    ]);
  });

  it('goes on behind the last number that it had', async () => {
    const clock = frozenClock();
    server = await listen((request, response) => {
      response.writeHead(200, stream);
      if (request.url === '/begin') {
        response.write('id: 4\nevent: step\ndata: {"n":4}\n\n', () => request.socket.destroy());
      } else {
        response.end(`event: end\ndata: "${request.headers['last-event-id']}"\n\n`);
      }
    });
    const received = all(clock);
    await clock.waiting(LOCAL_PAUSE_MS);
    clock.forward(LOCAL_PAUSE_MS);
    expect(await received).to.equal([
      { event: 'step', data: { n: 4 } },
      { event: 'end', data: '4' },
    ]);
  });

  it('gives up when the daemon stays away', async () => {
    const clock = frozenClock();
    server = await listen((request, response) => {
      if (request.url !== '/begin') request.socket.destroy();
      else {
        response.writeHead(200, stream);
        response.write('event: step\ndata: {}\n\n', () => request.socket.destroy());
      }
    });
    const failure = all(clock).catch((reason: unknown) => reason);
    const pauses = computeReconnectPauses(server.origin);
    for (const ms of pauses) {
      await clock.waiting(ms);
      clock.forward(ms);
    }
    expect(await failure).to.be.an.error(Unreachable);
    expect(server.got.length).to.equal(1 + pauses.length);
  });
});
