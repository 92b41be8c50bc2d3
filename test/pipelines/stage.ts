import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { type FrozenClock, startApp, type TestApp, untilMatches } from '../harness/app.js';

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
