import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Unreachable } from '../../src/client/errors.js';
import { followEvents, type ServerEvent } from '../../src/client/events.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('followEvents', () => {
  let server: Listening;
  afterEach(() => server.close());

  const stream = { 'content-type': 'text/event-stream' };
  const all = async (): Promise<ServerEvent[]> => {
    const told: ServerEvent[] = [];
    const to = { url: server.origin, token: undefined, signal: undefined };
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

  it('goes on behind the last number that it had', { timeout: 10_000 }, async () => {
    server = await listen((request, response) => {
      response.writeHead(200, stream);
      if (request.url === '/begin') {
        response.write('id: 4\nevent: step\ndata: {"n":4}\n\n', () => request.socket.destroy());
      } else {
        response.end(`event: end\ndata: "${request.headers['last-event-id']}"\n\n`);
      }
    });
    expect(await all()).to.equal([
      { event: 'step', data: { n: 4 } },
      { event: 'end', data: '4' },
    ]);
  });
});
