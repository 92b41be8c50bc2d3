import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withChromium } from '../accounts/passkeys/browser.js';
import { startApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { publishFor } from './sockets.js';

const PAGES = 50;
const SECONDS = 20;
const NOTICE = { id: 'notification_1', title: 'Title', body: 'x'.repeat(200), readAt: null };

/** The processor time of the daemon in a second, in milliseconds. */
interface PageFigures {
  socketsMs: number;
  pagesMs: number;
}

/**
 * Measures the processor time of the daemon at 100 events a second: with 50 sockets of an ordinary
 * client, and with 50 open pages, which also load what has changed. The clients are in a process of
 * their own. Null where Chromium is not installed.
 */
export const measurePages = async (): Promise<PageFigures | null> => {
  if (withChromium.skip) return null;
  const app = await startApp();
  app.url = app.url.replace('127.0.0.1', 'localhost');
  const { id, token } = await app.register('owner');
  const publish = () => inside(app.app).hub.publish(id, 'notification', NOTICE);
  const sockets = [`${app.url.replace('http', 'ws')}/ws`, String(PAGES), token];
  const figures = {
    socketsMs: await measure(['./socketclients.js', ...sockets], publish),
    pagesMs: await measure(['./pagevisitors.js', app.url, String(PAGES), 'owner'], publish),
  };
  await app.stop();
  return figures;
};

const measure = async ([file = '', ...args]: string[], publish: () => void): Promise<number> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  await once(child, 'message');
  // The loads of a page grow apart at the beginning of a storm.
  await publishFor({ publish }, SECONDS);
  const before = process.cpuUsage();
  await publishFor({ publish }, SECONDS);
  const { user, system } = process.cpuUsage(before);
  child.disconnect();
  await once(child, 'exit');
  await pause(200);
  return (user + system) / 1000 / SECONDS;
};
