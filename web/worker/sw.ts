import { pagePaths } from '../../src/kernel/pagepath.js';

declare const self: ServiceWorkerGlobalScope;

/**
 * A push names the kind and id of the notification and none of its content, because it passes
 * through the push service of the browser vendor.
 */
interface PushText {
  kind: string;
  id: string;
  /** Path in the page, if it has a view for the subject. */
  link?: string;
}

const TITLES: Record<string, string> = {
  approval_requested: 'An agent asks for your approval',
  pipeline_waiting: 'A pipeline waits for you',
  agent_completed: 'An agent finished',
  agent_failed: 'An agent failed',
  hook_failed: 'A hook failed',
  task_reminder: 'A task is due',
  test: 'This is a test',
};

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const text = readPush(event.data);
  event.waitUntil(
    self.registration.showNotification(TITLES[text.kind] ?? 'Adjutant notification', {
      body: 'Open Adjutant for details.',
      tag: text.link ?? text.id,
      icon: '/page/icon-192.png',
      data: { path: toPagePath(text) },
    }),
  );
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.path));
});

const readPush = (data: PushMessageData | null): PushText => {
  try {
    return data?.json() ?? { kind: '', id: '' };
  } catch {
    return { kind: '', id: '' };
  }
};

const toPagePath = ({ link }: PushText): string =>
  link !== undefined && isPath(link) ? link : pagePaths.notifications;

/** A path of the page itself, which cannot lead to another origin. */
const isPath = (link: string): boolean => /^\/[a-z]+\/[\w-]+$/.test(link);

/** Shows a path in the open page, else in a new window. */
const show = async (path: string): Promise<void> => {
  const pages = await self.clients.matchAll({ type: 'window' });
  const page = pages.find(({ url }) => new URL(url).origin === self.location.origin);
  if (!page) {
    await self.clients.openWindow(path);
    return;
  }
  await page.navigate(path);
  await page.focus();
};
