import type { Place } from './leaks.js';
import type { Ask, Garden } from './plant.js';

/** Bodies that hold a secret and are refused for something else, by where they go. */
const mistakes: [string, string, (secret: string) => unknown][] = [
  ['POST', '/api/vault', (value) => ({ name: 'odd', type: 'spoon', value })],
  ['POST', '/api/vault', (value) => ({ name: 'ünïcode\u202e', value })],
  ['POST', '/api/vault', (value) => ({ name: 'listed', value: [value] })],
  ['POST', '/api/vault', (value) => ({ name: 'large', value: value.repeat(40_000) })],
  ['POST', '/api/vault', (value) => ({ name: 'largest', value: value.repeat(2200) })],
  ['POST', '/api/vault', (value) => ({ name: 'other-key', valve: value })],
  ['POST', '/api/vault', (value) => ({ name: value.repeat(5), value })],
  ['POST', '/api/vault?value=', (value) => ({ name: 'taken', value })],
  ['PATCH', '/api/vault/:id', (value) => ({ value })],
  ['POST', '/api/vault/:id/rotate', (value) => ({ value, overlapMinutes: -1 })],
  ['POST', '/api/vault/:id/reveal', (password) => ({ password })],
  ['POST', '/api/hooks', (webhookSecret) => ({ triggerConfig: { webhookSecret } })],
  ['POST', '/api/models', (apiKey) => ({ name: 'no', provider: 'nobody', modelId: 'x', apiKey })],
  ['POST', '/api/models/test', (apiKey) => ({ provider: 'nobody', modelId: 'x', apiKey })],
  ['POST', '/api/webhooks', (secret) => ({ name: 'w', url: 'http://127.0.0.1/', secret })],
  ['PUT', '/api/admin/platforms/slack', (token) => ({ fields: { token } })],
  ['PUT', '/api/tunnel', (token) => ({ provider: 'ssh', token })],
  ['POST', '/api/skills/mcp', (a) => ({ name: 'x', command: 7, env: { a }, headers: { a } })],
  ['POST', '/api/auth/register', (password) => ({ username: 'x', password })],
  ['POST', '/api/auth/password', (next) => ({ current: 'not the password', next })],
];

/** What was answered to each; all of them are refusals. */
export const mistake = async (garden: Garden, ask: Ask, id: string): Promise<Place[]> => {
  const replies: Place[] = [];
  for (const [method, path, bodyOf] of mistakes) {
    const secret = garden.plant(`mistake: ${method} ${path}`);
    const at = path.endsWith('=') ? `${path}${secret}` : path.replace(':id', id);
    const { status, text } = await ask(method, at, bodyOf(secret));
    if (status < 400 || status >= 500) throw new Error(`${method} ${path}: ${status} ${text}`);
    replies.push({ where: `reply to ${method} ${path}`, held: Buffer.from(text) });
  }
  return replies;
};
