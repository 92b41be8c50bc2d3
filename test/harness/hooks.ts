import { type Reply, sign, startApp, type TestApp, type TestOptions, until } from './app.js';

/** Secret of GitHub's published example. */
export const SECRET = "It's a Secret to Everybody";

interface DeliveryRequest {
  secret?: string;
  headers?: Record<string, string>;
  /** Replaces `application/json`. `null` sends no content type. */
  type?: string | null;
}

/** A daemon with one owner, and common actions of hook tests. */
export interface Desk {
  test: TestApp;
  owner: { id: string; token: string };
  /** Switches to a new user without data, so that a test needs no daemon of its own. */
  arrive(): Promise<void>;
  othersHook(given?: Record<string, unknown>): Promise<Reply>;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Creates a hook of the owner, by default a notification on a webhook. Resolves to its id. */
  hook(given?: Record<string, unknown>): Promise<string>;
  /** Signed delivery to a path, as written in the URL. */
  deliver(path: string, body: string | Buffer, request?: DeliveryRequest): Promise<Reply>;
  runs(id: string): Promise<Reply['body'][]>;
  /** The same, once that many have ended. */
  ended(id: string, count?: number): Promise<Reply['body'][]>;
}

const OVER = ['success', 'error', 'skipped', 'interrupted'];

export const openDesk = async (options: TestOptions = {}): Promise<Desk> => {
  const test = await startApp(options);
  const owner = await test.register('owner');
  const ask: Desk['ask'] = (method, path, body) =>
    test.call(method, path, { token: owner.token, ...(body !== undefined && { body }) });
  const runs: Desk['runs'] = async (id) =>
    (await ask('GET', `/api/hooks/${id}/executions`)).body.executions;
  let count = 0;
  return {
    test,
    owner,
    arrive: async () => {
      Object.assign(owner, await test.register(`owner-${++count}`));
    },
    othersHook: async (given) => {
      const { token } = await test.register(`other-${++count}`);
      return test.call('POST', '/api/hooks', { token, body: notice(given) });
    },
    ask,
    runs,
    hook: async (given) => {
      const { body, text } = await ask('POST', '/api/hooks', notice(given));
      if (!body.id) throw new Error(`No hook: ${text}`);
      return body.id;
    },
    deliver: (path, body, { secret = SECRET, headers = {}, type = 'application/json' } = {}) =>
      test.call('POST', `/api/webhooks/${path}`, {
        body,
        type,
        headers: { 'x-hub-signature-256': sign(secret, body), ...headers },
      }),
    ended: (id, count = 1) =>
      until(
        () => runs(id),
        (found) => found.filter(({ status }) => OVER.includes(status)).length >= count,
      ),
  };
};

/** Input of a hook that posts a notification, overridden by `given`. */
export const notice = (given: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'issues',
  trigger: 'webhook',
  triggerConfig: { webhookPath: 'issues', webhookSecret: SECRET },
  action: 'notify',
  actionConfig: { notifyMessage: 'Got {{webhook.body.n}}' },
  ...given,
});

/** Webhook trigger for a path. */
export const onPath = (webhookPath: string, webhookSecret = SECRET) => ({
  triggerConfig: { webhookPath, webhookSecret },
});
