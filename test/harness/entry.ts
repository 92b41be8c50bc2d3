import { type TestApp, until } from './app.js';

export const seedEntry = async (app: TestApp, token: string, text: string): Promise<string> => {
  const { body } = await app.call('POST', '/api/knowledge', { token, body: { text } });
  await until(
    () => app.call('GET', `/api/knowledge/${body.id}`, { token }),
    (reply) => reply.body.status === 'ready',
  );
  return body.id;
};
