import type { TestApp } from './app.js';

export interface MadeToken {
  id: string;
  token: string;
}

export const makeToken = async (
  app: TestApp,
  session: string,
  more: { scopes?: string[]; expiresInDays?: number } = {},
): Promise<MadeToken> => {
  const body = { name: 'ci', ...more };
  const reply = await app.call('POST', '/api/auth/tokens', { token: session, body });
  if (reply.status !== 201) throw new Error(`No token was made: ${reply.text}`);
  return { id: reply.body.id, token: reply.body.token };
};
