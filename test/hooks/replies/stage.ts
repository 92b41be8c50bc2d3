import type { Config } from '../../../src/config.js';
import type { Clock } from '../../../src/kernel/clock.js';
import { type Stage, startStage } from '../../agents/stage.js';
import { type Reply, sign, until } from '../../harness/app.js';
import { type Forge, openForge } from '../../harness/forge.js';
import { SECRET } from '../../harness/hooks.js';
import { says } from '../../harness/openai.js';

type Json = Reply['body'];

/** A daemon whose hooks reply on a forge, with a model that is scripted. */
export interface ReplyStage extends Stage {
  forge: Forge;
  credentialId: string;
  /** Creates a hook that runs an agent and replies. Resolves to its id. */
  replier(path: string, reply: object, more?: object): Promise<string>;
  deliver(path: string, body: object, event?: string): Promise<Json>;
  replies(hookId: string): Promise<Json[]>;
  /** The newest reply of the hook, once it has that status. */
  reply(hookId: string, status: string, count?: number): Promise<Json>;
  runs(hookId: string): Promise<Json[]>;
  /** The newest execution, once that many have ended. */
  run(hookId: string, count?: number): Promise<Json>;
}

export const TOKEN = 'token-of-the-bot';
const OVER = ['success', 'error', 'skipped', 'interrupted'];

export const openReplyStage = async (
  config: Partial<Config> = {},
  clock?: Clock,
): Promise<ReplyStage> => {
  const forge = await openForge();
  const stage = await startStage({ egressAllow: [forge.address], ...config }, clock);
  const credential = { name: 'bot', value: TOKEN, allowedHosts: [forge.address] };
  const { body } = await stage.ask('POST', '/api/vault', credential);
  const stop = stage.stop;
  let nth = 0;
  const replies: ReplyStage['replies'] = async (hookId) =>
    (await stage.ask('GET', `/api/hooks/${hookId}/replies`)).body.replies;
  const runs: ReplyStage['runs'] = async (hookId) =>
    (await stage.ask('GET', `/api/hooks/${hookId}/executions`)).body.executions;
  return Object.assign(stage, {
    forge,
    credentialId: body.id,
    replier: async (path: string, reply: object, more: object = {}) => {
      const made = await stage.ask('POST', '/api/hooks', {
        name: path,
        trigger: 'webhook',
        triggerConfig: { webhookPath: path, webhookSecret: SECRET },
        action: 'spawn_agent',
        actionConfig: {
          agentPrompt: 'Answer.',
          reply: { url: forge.url, credentialId: body.id, ...reply },
        },
        ...more,
      });
      if (made.status !== 201) throw new Error(made.text);
      return made.body.id;
    },
    deliver: async (path: string, payload: object, event = 'issues') => {
      const text = JSON.stringify(payload);
      const headers = {
        'x-hub-signature-256': sign(SECRET, text),
        'x-github-delivery': `delivery-${++nth}`,
        'x-github-event': event,
      };
      return (await stage.call('POST', `/api/webhooks/${path}`, { body: text, headers })).body;
    },
    replies,
    reply: async (hookId: string, status: string, count = 1) => {
      const [newest] = await until(
        () => replies(hookId),
        (found) => found.length >= count && found[0].status === status,
      );
      return newest;
    },
    runs,
    run: async (hookId: string, count = 1) => {
      const [newest] = await until(
        () => runs(hookId),
        (found) => found.filter(({ status }) => OVER.includes(status)).length >= count,
      );
      return newest;
    },
    stop: async () => {
      await stop();
      forge.close();
    },
  });
};

/** The next answers of the model. */
export const answers = ({ model }: Stage, ...texts: string[]): void =>
  model.script(...texts.map((text) => says({ text })));

export const ISSUE = {
  action: 'opened',
  issue: { number: 7, title: 'It fails' },
  repository: { full_name: 'octo/hello' },
  sender: { login: 'mona', type: 'User' },
};
