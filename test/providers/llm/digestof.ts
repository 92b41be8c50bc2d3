import { expect } from '@hapi/code';
import { digest } from '../../../src/providers/llm/digest.js';
import type { Turn } from '../../../src/providers/llm/model.js';

export const SIGNED =
  'This text is from the built-in digest, not from a language model. ' +
  'To set one up, run adjutant models recommend --install or adjutant models create (see adjutant help models).';

export const signal = new AbortController().signal;
export const ask = async (...turns: Turn[]) =>
  (await digest.step({ turns, tools: [], signal })).text.split('\n');

/** What the digest says of a payload, without its signature; the prompt is that of `spawn_agent`. */
export const digestOf = async (payload: unknown, event?: string) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const tail = event === undefined ? '' : `\nEvent type: ${event}`;
  const said = await ask({ role: 'user', content: `\n\n--- Webhook Payload ---\n${text}${tail}` });
  expect(said.slice(-2)).to.equal(['', SIGNED]);
  return said.slice(0, -2);
};
