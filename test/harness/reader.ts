import { type TestApp, until } from './app.js';

/** Reads a page. Resolves to the task once it has ended. */
export const readPage = async (app: TestApp, token: string, body: object) => {
  const begun = await app.call('POST', '/api/reader/read', { token, body: { ...body, wait: 0 } });
  const path = `/api/reader/tasks/${begun.body.id}?wait=60`;
  return until(
    async () => (await app.call('GET', path, { token })).body,
    ({ status }) => status !== 'queued' && status !== 'running',
  );
};
