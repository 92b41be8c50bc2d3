import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { digest } from '../../../src/providers/llm/digest.js';
import type { Turn } from '../../../src/providers/llm/model.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SIGNED =
  'This text is from the built-in digest, not from a language model. ' +
  'To set one up, run adjutant models recommend --install or adjutant models create (see adjutant help models).';

const signal = new AbortController().signal;
const ask = async (...turns: Turn[]) =>
  (await digest.step({ turns, tools: [], signal })).text.split('\n');

/** What the digest says of a payload, without its signature; the prompt is that of `spawn_agent`. */
const digestOf = async (payload: unknown, event?: string) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const tail = event === undefined ? '' : `\nEvent type: ${event}`;
  const said = await ask({ role: 'user', content: `\n\n--- Webhook Payload ---\n${text}${tail}` });
  expect(said.slice(-2)).to.equal(['', SIGNED]);
  return said.slice(0, -2);
};

describe('digest of a payload', () => {
  it('is quick with a megabyte', async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, title: 'x'.repeat(30) }));
    const large = [{ items }, { body: 'x'.repeat(2 ** 20) }, { body: '\x1b['.repeat(2 ** 17) }];
    const began = performance.now();
    for (const payload of large) await digestOf(payload);
    expect(performance.now() - began).to.be.below(1000);
  });
});
