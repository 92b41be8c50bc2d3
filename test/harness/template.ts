import type { TestApp } from './app.js';

/** A template of one stage, which needs no model; resolves to its id. */
export const keepTemplate = async (app: TestApp, token: string, name: string): Promise<string> => {
  const stages = [{ key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } }];
  const body = { name, stages };
  return (await app.call('POST', '/api/pipelines/templates', { token, body })).body.id;
};
