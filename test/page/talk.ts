import { type Agent, call } from '../agents/stage.js';
import { startCanary } from '../approvals/stage.js';
import { type Reply, untilMatches } from '../harness/app.js';
import { type Openai, startOpenai } from '../harness/openai.js';
import { openPageStage, type PageStage } from './stage.js';

/** A page whose agents use a scripted model and a local service. */
export interface TalkStage extends PageStage {
  model: Openai;
  canary: Awaited<ReturnType<typeof startCanary>>;
  userId: string;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  spawn(body: object): Promise<Agent>;
  /** The agent, once it has that status. */
  reaches(id: string, status: string): Promise<Agent>;
  /** A call with side effects, which needs approval. */
  post(body?: string): ReturnType<typeof call>;
}

export const openTalkStage = async (): Promise<TalkStage> => {
  const model = await startOpenai();
  const canary = await startCanary();
  const stage = await openPageStage({
    config: {
      modelUrl: model.baseUrl,
      modelName: 'fake',
      drainSeconds: 0,
      egressAllow: ['127.0.0.1'],
    },
  });
  const { id: userId, token } = await stage.app.register('ada');
  const ask: TalkStage['ask'] = (method, path, body) =>
    stage.app.call(method, path, { token, ...(body !== undefined && { body }) });
  const { stop } = stage;
  return Object.assign(stage, {
    model,
    canary,
    userId,
    ask,
    spawn: async (body: object) => (await ask('POST', '/api/agents', body)).body,
    reaches: (id: string, status: string) =>
      untilMatches(async () => (await ask('GET', `/api/agents/${id}`)).body, { status }),
    post: (body = 'hello') =>
      call('http_request', { method: 'POST', url: canary.url, body }, `post_${body.length}`),
    stop: async () => {
      await stop();
      canary.stop();
      await model.stop();
    },
  });
};
