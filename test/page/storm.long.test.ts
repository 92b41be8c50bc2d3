import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Page, WebSocket } from 'playwright-core';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { until, untilAtLeast, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { isLive, openPageStage, type PageStage, type Visitor } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Number of events, and the allowed loads: at 0.15, 0.65, 1.65, 3.65 s, and so on. */
const EVENTS = 400;
const EVERY_MS = 10;
const MAX_LOADS = 6;

describe('the page in a storm of events', () => {
  let stage: PageStage;
  let ada: { id: string; token: string };
  let visitor: Visitor;

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ada = await stage.app.register('ada');
    visitor = await stage.enter('ada');
  });

  after(() => stage?.stop());

  it(`loads again a few times, and once more after the last${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    await open('/');
    await isLive(page);
    let loads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/overview')) loads++;
    });
    const { hub } = inside(stage.app.app);
    for (let event = 0; event < EVENTS; event++) {
      hub.publish(ada.id, 'agent.status', { id: event });
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    expect(loads > 1 && loads <= MAX_LOADS).to.be.true();
    const last = page.waitForResponse((reply) => reply.url().endsWith('/api/overview'));
    await stage.app.call('POST', '/api/tasks', {
      token: ada.token,
      body: { title: 'After the storm', dueAt: '2020-01-01T00:00:00Z' },
    });
    await last;
    await page.waitForSelector('text=After the storm', { timeout: 15_000 });
  });

  it(`loads nothing of a conversation while nobody sees it${unless}`, withChromium, async () => {
    const { page, open } = visitor;
    const { id, sessionId } = await ask('POST', '/api/agents', { prompt: 'The first question' });
    await said(sessionId, 2);
    for (const [at, path] of [`/chat/${sessionId}`, `/agents/${id}`].entries()) {
      const opened = page.waitForEvent('websocket');
      await open(path);
      const socket = await opened;
      await isLive(page);
      await page.waitForSelector('text=The first question', { state: 'attached' });
      // Loads requested before the page was hidden have finished.
      await page.waitForLoadState('networkidle');
      await hide(page, true);
      const loads: string[] = [];
      page.on('request', (request) => {
        if (/\/messages|\/events/.test(request.url())) loads.push(request.url());
      });
      const content = `More for ${path}`;
      await ask('POST', `/api/agents/${id}/message`, { content });
      await said(sessionId, 4 + 2 * at);
      await heardAll(socket, id);
      await page.evaluate('0');
      expect([path, loads]).to.equal([path, []]);
      await hide(page, false);
      await page.waitForSelector(`text=${content}`, { state: 'attached' });
      const count = await untilAtLeast(async () => loads.length, 1);
      expect(count > 0).to.be.true();
    }
  });

  const ask = async (method: string, path: string, body?: object) =>
    (await stage.app.call(method, path, { token: ada.token, ...(body && { body }) })).body;

  /** Resolves once the conversation has that many messages and the agent's turn has ended. */
  const said = async (sessionId: string, count: number): Promise<void> => {
    await untilMatches(() => ask('GET', `/api/sessions/${sessionId}`), { messageCount: count });
    await until(
      () => ask('GET', `/api/agents?sessionId=${sessionId}`),
      ({ agents }) => agents[0].status === 'completed',
    );
  };

  /** Publishes an event after missing ones. Resolves once the page has it. */
  const heardAll = async (socket: WebSocket, agentId: string): Promise<void> => {
    const last = socket.waitForEvent('framereceived', ({ payload }) =>
      String(payload).includes('the last one'),
    );
    const { hub } = inside(stage.app.app);
    hub.publish(ada.id, 'agent.status', { agentId, id: 10_000, data: {} });
    hub.publish(ada.id, 'agent.status', { agentId: 'the last one' });
    await last;
  };
});

/** Makes the page hidden, as behind another tab, or visible again. */
const hide = async (page: Page, isHidden: boolean): Promise<void> => {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));`,
  );
};
