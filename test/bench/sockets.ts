import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { startApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

const CLIENTS = fileURLToPath(new URL('./socketclients.js', import.meta.url));
const SOCKETS = 500;
const PER_SECOND = 100;
const SECONDS = 5;
const NOTICE = { id: 'notification_1', title: 'Title', body: 'x'.repeat(200), readAt: null };

/** A server whose every publication goes to all open sockets. */
interface Broadcaster {
  url: string;
  token?: string;
  publish(): void;
  stop(): Promise<void>;
}

/**
 * Measures the processor time of a frame to one of 500 sockets, at 100 publications a second: of the
 * daemon, and of a bare server of the same library. Both run in this process, the clients in another.
 */
export const measureSockets = async (): Promise<{ bareUs: number; daemonUs: number }> => {
  const bareUs = await measure(await startBare());
  return { bareUs, daemonUs: await measure(await startDaemon()) };
};

const measure = async (server: Broadcaster): Promise<number> => {
  const { url, token } = server;
  const child = fork(CLIENTS, [url, String(SOCKETS), ...(token === undefined ? [] : [token])]);
  await once(child, 'message');
  await publishFor(server, 1);
  const before = process.cpuUsage();
  await publishFor(server, SECONDS);
  const { user, system } = process.cpuUsage(before);
  await pause(200);
  child.send('count');
  const [{ received }] = await once(child, 'message');
  const due = SOCKETS * PER_SECOND * (SECONDS + 1);
  if (received !== due) throw new Error(`${received} frames of ${due} arrived`);
  child.disconnect();
  await server.stop();
  return (user + system) / (SOCKETS * PER_SECOND * SECONDS);
};

/** Publishes a hundred times a second, evenly, for so many seconds. */
export const publishFor = async (
  server: Pick<Broadcaster, 'publish'>,
  seconds: number,
): Promise<void> => {
  const since = performance.now();
  for (let sent = 0; sent < seconds * PER_SECOND; sent++) {
    const due = since + (1000 * sent) / PER_SECOND;
    await pause(Math.max(0, due - performance.now()));
    server.publish();
  }
};

const startBare = async (): Promise<Broadcaster> => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const text = JSON.stringify({ type: 'notification', data: NOTICE });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publish: () => {
      for (const client of server.clients) client.send(text);
    },
    stop: async () => void server.close(),
  };
};

const startDaemon = async (): Promise<Broadcaster> => {
  const app = await startApp();
  const { id, token } = await app.register('owner');
  const { hub } = inside(app.app);
  return {
    url: `${app.url.replace('http', 'ws')}/ws`,
    token,
    publish: () => hub.publish(id, 'notification', NOTICE),
    stop: () => app.stop(),
  };
};
