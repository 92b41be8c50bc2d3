import { type FrozenClock, type Reply, until } from '../../harness/app.js';
import { type Desk, openDesk } from '../../harness/hooks.js';
import { openTarget, type Target } from '../../harness/target.js';

export const SECRET = `whsec_${Buffer.from('a key of thirty-two bytes: 32!!!').toString('base64')}`;

/** A daemon whose owner has a hook, and an endpoint for outgoing webhooks. */
export interface Stage extends Desk {
  target: Target;
  /** A webhook of the owner's to the endpoint, for all events unless said otherwise. */
  webhook(given?: Record<string, unknown>): Promise<Reply['body']>;
  /** Runs the owner's hook once, which makes `hook.executed`. Resolves to the execution's id. */
  fire(): Promise<string>;
  /** How often that was done so far. */
  fired(): number;
  deliveries(id: string, query?: string): Promise<Reply['body'][]>;
  /** Lets the endpoint answer with a status. */
  answer(status: number, headers?: Record<string, string>): void;
  /** The newest delivery, once it is as it should be. */
  newest(id: string, isRight: (delivery: Reply['body']) => boolean): Promise<Reply['body']>;
  /** The newest delivery, once it has that many attempts and waits for the next or has failed. */
  attempted(id: string, count: number): Promise<Reply['body']>;
  show(id: string): Promise<Reply['body']>;
  /** Deletes every webhook, and forgets what the endpoint got. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export const openStage = async (clock?: FrozenClock): Promise<Stage> => {
  const target = await openTarget();
  const desk = await openDesk({
    config: { egressAllow: ['127.0.0.1'], tokenHours: 720, drainSeconds: 0 },
    ...(clock && { clock }),
  });
  const hookId = await desk.hook();
  let count = 0;
  const deliveries: Stage['deliveries'] = async (id, query = '') =>
    (await desk.ask('GET', `/api/webhooks/${id}/deliveries${query}`)).body.deliveries;
  const newest: Stage['newest'] = (id, isRight) =>
    until(
      async () => (await deliveries(id))[0],
      (found) => found !== undefined && isRight(found),
    );
  return {
    ...desk,
    target,
    answer: (status, headers = {}) => {
      target.answer = (response) => response.writeHead(status, headers).end(`said ${status}`);
    },
    newest,
    attempted: (id, attempts) =>
      newest(
        id,
        (found) => found.attempts.length === attempts && /queued|failed/.test(found.status),
      ),
    show: async (id) => (await desk.ask('GET', `/api/webhooks/${id}`)).body,
    webhook: async (given) => {
      const body = { name: 'app', url: target.url, events: ['*'], secret: SECRET, ...given };
      const reply = await desk.ask('POST', '/api/webhooks', body);
      if (reply.status !== 201) throw new Error(`No webhook: ${reply.text}`);
      return reply.body;
    },
    fire: async () => {
      const { body } = await desk.deliver('issues', JSON.stringify({ n: ++count }));
      const [id] = body.executions;
      await until(
        async () => (await desk.ask('GET', `/api/hooks/${hookId}/executions/${id}`)).body.status,
        (status) => status === 'success',
      );
      return id;
    },
    fired: () => count,
    deliveries,
    clear: async () => {
      const { body } = await desk.ask('GET', '/api/webhooks');
      for (const { id } of body.webhooks) await desk.ask('DELETE', `/api/webhooks/${id}`);
      target.received.length = 0;
      target.answer = (response) => response.end('fine');
    },
    stop: async () => {
      await desk.test.stop();
      target.close();
    },
  };
};
