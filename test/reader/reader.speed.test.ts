import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, untilMatches } from '../harness/app.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the reader', () => {
  let app: TestApp;
  let pages: Listening;
  let owner: { id: string; token: string };
  const waiting: (() => void)[] = [];

  before(async () => {
    pages = await listen((_, response) => {
      waiting.push(() => response.setHeader('content-type', 'text/html').end('<p>late'));
    });
    app = await startApp({ config: { registration: 'open', egressAllow: [pages.entry] } });
    owner = await app.register('owner');
  });
  after(async () => {
    await app.stop();
    await pages.close();
  });

  const ask = (method: string, path: string, token = owner.token) =>
    app.call(method, `/api/reader/tasks${path}`, { token });

  it('is cancelled within a second, by its task or by its operation, which end both', async () => {
    for (const byOperation of [false, true]) {
      const { id, operationId } = (
        await app.call('POST', '/api/reader/read', {
          token: owner.token,
          body: { url: `${pages.origin}/slow`, wait: 0 },
        })
      ).body;
      await untilMatches(async () => waiting.length, 1);
      const since = performance.now();
      const path = byOperation ? `operations/${operationId}` : `reader/tasks/${id}`;
      const { status } = await app.call('POST', `/api/${path}/cancel`, owner);
      expect(status).to.equal(200);
      await untilMatches(async () => pages.sockets.at(-1)?.destroyed, true);
      expect(performance.now() - since).to.be.below(1000);
      waiting.length = 0;
      expect((await ask('GET', `/${id}`)).body.status).to.equal('cancelled');
      const operation = await app.call('GET', `/api/operations/${operationId}`, owner);
      expect(operation.body.status).to.equal('cancelled');
      const again = await ask('POST', `/${id}/cancel`);
      expect([again.status, again.body.message]).to.equal([
        409,
        'The web page extraction has already ended with status cancelled',
      ]);
    }
  });
});
