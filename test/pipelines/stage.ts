import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { type FrozenClock, startApp, type TestApp, untilMatches } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';

/** A daemon with a user who has pipelines. */
export interface PipelineStage {
  app: TestApp;
  token: string;
  userId: string;
  /** Saves a template of these stages and starts a run of it. */
  start(stages: TemplateStage[], more?: { params?: object; template?: object }): Promise<string>;
  run(id: string): Promise<PipelineRunDetail>;
  /** Waits until a run is in that state. */
  reach(id: string, status: PipelineRunDetail['status']): Promise<PipelineRunDetail>;
  call(method: string, path: string, body?: unknown, by?: string): ReturnType<TestApp['call']>;
  stop(): Promise<void>;
}

export const openPipelineStage = async (
  options: Parameters<typeof startApp>[0] & { clock?: FrozenClock } = {},
): Promise<PipelineStage> => {
  const app = await startApp(options);
  const { token, id: userId } = await app.register('ada');
  let count = 0;
  const call: PipelineStage['call'] = (method, path, body, by = token) =>
    app.call(method, `/api/pipelines${path}`, { token: by, body });
  const run = async (id: string) => (await call('GET', `/${id}`)).body;
  return {
    app,
    token,
    userId,
    call,
    run,
    start: async (stages, { params = {}, template = {} } = {}) => {
      const made = await call('POST', '/templates', { name: `T${++count}`, stages, ...template });
      if (made.status !== 201) throw new Error(made.text);
      const started = await call('POST', '', { templateId: made.body.id, params });
      if (started.status !== 201) throw new Error(started.text);
      return started.body.id;
    },
    reach: (id, status) => untilMatches(() => run(id), { status }),
    stop: () => app.stop(),
  };
};

/** A stage with a target that its requests reach. */
export interface TargetStage extends PipelineStage {
  target: Target;
  /** Answer of the target until a test sets another. */
  answer: Target['answer'];
  /** Registers a model `silent`, whose calls go to the target. */
  addSilentModel(): Promise<void>;
  /** Forgets the requests and the answer of the target. */
  forget(): void;
  /** Statuses of the stages of a run, by key. */
  statuses(id: string): Promise<Record<string, string>>;
}

export const openTargetStage = async (): Promise<TargetStage> => {
  const target = await openTarget();
  const { answer } = target;
  const stage = await openPipelineStage({ config: { egressAllow: [target.address] } });
  return {
    ...stage,
    target,
    answer,
    addSilentModel: async () => {
      const baseUrl = `${target.url}/v1`;
      const body = { name: 'silent', provider: 'openai-compatible', modelId: 'x', baseUrl };
      await stage.app.call('POST', '/api/models', { token: stage.token, body });
    },
    forget: () => {
      target.answer = answer;
      target.received.length = 0;
    },
    statuses: async (id) =>
      Object.fromEntries((await stage.run(id)).stages.map(({ key, status }) => [key, status])),
    stop: async () => {
      await stage.stop();
      target.close();
    },
  };
};

export const now = (key: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
  key,
  kind: 'tool',
  config: { toolId: 'time', toolAction: 'now' },
  ...more,
});

export const approval = (key: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
  key,
  kind: 'approval',
  config: { message: 'Go on?' },
  ...more,
});
