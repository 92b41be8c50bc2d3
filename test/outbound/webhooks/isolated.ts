import { once } from 'node:events';
import { type connect, createServer } from 'node:net';
import { expect } from '@hapi/code';
import { until } from '../../harness/app.js';
import { notice, onPath, openDesk } from '../../harness/hooks.js';
import { openTarget } from '../../harness/target.js';

const EVENTS = 5;
const GOOD = 50;
/** Of one user. */
const MOST = 50;

/** Takes connections and answers nothing. */
const openHanging = async () => {
  const sockets = new Set<ReturnType<typeof connect>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

/** Runs `measured` around the deliveries to good endpoints beside one that hangs and one that is gone. */
export const deliverBesideDead = async (
  measured: (deliver: () => Promise<void>) => Promise<void>,
): Promise<void> => {
  const target = await openTarget();
  const hanging = await openHanging();
  const desk = await openDesk({ config: { egressAllow: ['127.0.0.1'], drainSeconds: 0 } });
  await desk.hook();
  const dead = [hanging.url, 'http://127.0.0.1:9/'];
  const good = Array.from({ length: GOOD }, (_, at) => `${target.url}/${at}`);
  const { token } = await desk.test.register('second');
  const theirs = notice({ name: 'theirs', ...onPath('theirs') });
  await desk.test.call('POST', '/api/hooks', { token, body: theirs });
  for (const [at, url] of [...dead, ...good].entries()) {
    const body = { name: url, url, events: ['hook.executed'] };
    const whose = at < MOST ? desk.owner.token : token;
    const made = await desk.test.call('POST', '/api/webhooks', { token: whose, body });
    expect(made.status).to.equal(201);
  }
  await measured(async () => {
    for (let n = 0; n < EVENTS; n++) {
      for (const path of ['issues', 'theirs']) await desk.deliver(path, JSON.stringify({ n }));
    }
    await target.got(GOOD * EVENTS);
  });
  const paths = target.received.map(({ path }) => path);
  const counts = good.map((_, at) => paths.filter((path) => path === `/${at}`).length);
  expect(counts).to.equal(good.map(() => EVENTS));
  expect(hanging.sockets.size).to.equal(1);
  const { webhooks } = (await desk.ask('GET', '/api/webhooks?limit=200')).body;
  const refused = webhooks.find(({ url }: { url: string }) => url === dead[1]);
  const [delivery] = await until(
    async () =>
      (
        await desk.ask('GET', `/api/webhooks/${refused.id}/deliveries`)
      ).body.deliveries.toReversed(),
    ([oldest]) => oldest?.attempts.length > 0,
  );
  expect(delivery.attempts[0].error).to.equal('127.0.0.1: the connection was refused');
  await desk.test.stop();
  hanging.close();
  target.close();
};
