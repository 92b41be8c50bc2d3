import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { CDPSession, Worker } from 'playwright-core';
import { FULL_PROGRAM, unlessFull, withFullChromium } from '../accounts/passkeys/browser.js';
import { until, untilAtLeast, untilMatches } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { type FakePushService, startPushService } from '../harness/pushservice.js';
import { logInAs, openPageStage, type PageStage, type Visitor, WIDTHS } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

for (const { where, viewport } of WIDTHS) {
  describe(`a push to the page, ${where}`, () => {
    let stage: PageStage;
    let service: FakePushService;
    let ada: { id: string; token: string };
    let visitor: Visitor;

    before(async () => {
      if (withFullChromium.skip) return;
      service = await startPushService();
      const config = { egressAllow: [new URL(service.origin).host] };
      stage = await openPageStage({ config }, FULL_PROGRAM);
      ada = await stage.app.register('ada');
      visitor = await stage.enter('ada', viewport);
      await visitor.context.grantPermissions(['notifications']);
    });

    after(async () => {
      await stage?.stop();
      await service?.stop();
    });

    it(`leads to the answered approval in two taps${unlessFull}`, withFullChromium, async () => {
      const { page, complaints, click } = visitor;
      const { subscription } = service.subscribe();
      const body = { ...subscription, name: 'phone' };
      await stage.app.call('POST', '/api/push/subscriptions', { token: ada.token, body });
      const id = await askApproval(stage.app, ada.id, { url: 'http://127.0.0.1:9/deploy' });
      await untilAtLeast(async () => service.pushes, 1);
      const worker = await workerOf(visitor);
      await deliver(visitor, stage.app.url, service.pushes[0]?.text ?? '');
      expect(await worker.evaluate(NOTIFICATIONS)).to.equal([
        { title: 'An agent asks for your approval', body: 'Open Adjutant for details.' },
      ]);
      // The first tap is on the notification, the second on the decision.
      await worker.evaluate(TAP);
      await page.waitForSelector('text=http://127.0.0.1:9/deploy');
      await page.locator('button.main').scrollIntoViewIfNeeded();
      await click('button.main', '.state:text("approved")');
      const reply = await stage.app.call('GET', `/api/chat/approvals/${id}`, { token: ada.token });
      expect(reply.body.status).to.equal('approved');
      expect(complaints).to.equal([]);
    });

    it(
      `is turned on, tried and turned off by keyboard${unlessFull}`,
      withFullChromium,
      async () => {
        const { subscription } = service.subscribe();
        const { page, open, tabTo, violations, complaints } = await stage.visit(viewport);
        await page.context().grantPermissions(['notifications']);
        await page.addInitScript(`(${STUB_PUSH_MANAGER})(${JSON.stringify(subscription)})`);
        await open('/device');
        await logInAs(page, 'ada');
        await tabTo('section button.main', 'Enter');
        await page.waitForSelector(
          'text=This browser notifies you when something needs your attention.',
        );
        expect(await violations()).to.equal([]);
        const { pathname } = new URL(subscription.endpoint);
        await tabTo('section .buttons button:first-child', 'Enter');
        await until(
          async () => service.pushes.map(({ path }) => path),
          (paths) => paths.includes(pathname),
        );
        await page.waitForSelector('section .buttons button:last-child[aria-disabled=false]');
        await tabTo('section .buttons button:last-child', 'Enter');
        await page.waitForSelector(
          'text=This browser can notify you when something needs your attention',
        );
        const list = await stage.app.call('GET', '/api/push/subscriptions', { token: ada.token });
        const names = list.body.subscriptions.map(({ name }: { name: string }) => name);
        expect(names).to.equal(['phone']);
        expect(complaints).to.equal([]);
      },
    );

    it(`says what an iPhone needs for it${unlessFull}`, withFullChromium, async () => {
      const { page, open, violations } = await stage.visit(viewport);
      await page.addInitScript(`
        Object.defineProperty(navigator, 'standalone', { value: false });
        Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)' });`);
      await open('/device');
      await logInAs(page, 'ada');
      await page.waitForSelector(
        'text=On an iPhone or iPad, push notifications work only from the home screen. Choose Share',
      );
      expect(await page.locator('section[aria-labelledby=pushes] button.main').count()).to.equal(0);
      expect(await violations()).to.equal([]);
    });

    it(
      `without a text, or with a path elsewhere, leads to the notices${unlessFull}`,
      withFullChromium,
      async () => {
        const { page, open } = visitor;
        const worker = await workerOf(visitor);
        for (const text of ['', 'no JSON', '{"kind":"x","id":"y","link":"//evil.example/x"}']) {
          await open('/');
          await worker.evaluate(CLEAR);
          await untilMatches(() => worker.evaluate<unknown[]>(NOTIFICATIONS), { length: 0 });
          await deliver(visitor, stage.app.url, text);
          expect(await worker.evaluate<unknown[]>(NOTIFICATIONS)).to.have.length(1);
          await worker.evaluate(TAP);
          await page.waitForURL(`${stage.app.url}/notifications`);
        }
      },
    );
  });
}

/** Page code: a push service with one subscription. */
const STUB_PUSH_MANAGER = `(subscription) => {
  let current = null;
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async () => {
    const unsubscribe = async () => {
      current = null;
      return true;
    };
    current = { toJSON: () => subscription, unsubscribe };
    return current;
  };
}`;

const NOTIFICATIONS = `self.registration.getNotifications().then((all) =>
  all.map(({ title, body }) => ({ title, body })))`;
/** A tap event, without the permission to take the focus that a real tap has. */
const TAP = `self.registration.getNotifications().then(([notification]) =>
  void self.dispatchEvent(new NotificationEvent('notificationclick', { notification })))`;
const CLEAR = `self.registration.getNotifications().then((all) => all.forEach((one) => one.close()))`;

const workerOf = async ({ context }: Visitor): Promise<Worker> => {
  const [worker] = context.serviceWorkers();
  return worker ?? context.waitForEvent('serviceworker');
};

/**
 * Delivers a push to the page's worker, like the push service. Resolves when the worker has shown
 * it. Reading the notifications earlier makes Chromium drop the new one.
 */
const deliver = async (visitor: Visitor, origin: string, data: string): Promise<void> => {
  const worker = await workerOf(visitor);
  await worker.evaluate(WATCH);
  const cdp = await visitor.context.newCDPSession(visitor.page);
  const registrationId = await registrationOf(cdp, origin);
  await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  await cdp.detach();
  await worker.evaluate('self.shown');
};

const WATCH = `(() => {
  const { registration } = self;
  self.shown = new Promise((resolve) => {
    registration.showNotification = async (...given) => {
      delete registration.showNotification;
      await registration.showNotification(...given);
      resolve();
    };
  });
})()`;

const registrationOf = async (cdp: CDPSession, origin: string): Promise<string> => {
  const found = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL === `${origin}/`);
      if (own) resolve(own.registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  return found;
};
