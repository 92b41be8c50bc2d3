import type { TestApp } from './app.js';

export const seedTemplate = async (app: TestApp, token: string, name: string): Promise<string> => {
  const stages = [{ key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } }];
  const body = { name, stages };
  return (await app.call('POST', '/api/pipelines/templates', { token, body })).body.id;
};

/** A run that waits for a person at its only stage. Resolves to its id and the key of the stage. */
export const seedRun = async (
  app: TestApp,
  token: string,
  name: string,
): Promise<{ id: string; key: string }> => {
  const stages = [{ key: 'ok', kind: 'approval', config: { message: `Go on, ${name}?` } }];
  const call = (path: string, body: object) => app.call('POST', path, { token, body });
  const { body: made } = await call('/api/pipelines/templates', { name: `${name} run`, stages });
  const { body: run } = await call('/api/pipelines', { templateId: made.id });
  return { id: run.id, key: 'ok' };
};
