import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { embeddingModel } from '../../../src/providers/llm/embeddings.js';

export const lab = Lab.script();
const { describe, it } = lab;

const DIMENSIONS = 256;
const VECTOR = Array.from({ length: DIMENSIONS }, (_, at) => -Math.sqrt(at + 2) * 1e-12);

const embedOne = (reply: string) =>
  embeddingModel({
    name: 'nomic',
    provider: 'ollama',
    modelId: 'nomic',
    baseUrl: 'http://127.0.0.1:1',
    dimensions: DIMENSIONS,
    fetch: async () => new Response(reply),
  }).embed(['a text'], new AbortController().signal);
const faultOf = (reply: string) =>
  embedOne(reply).then(
    () => null,
    ({ message }) => message,
  );

describe('the reply of a model that makes vectors', () => {
  it('is read with every digit of its numbers', async () => {
    const { vectors } = await embedOne(JSON.stringify({ embeddings: [VECTOR] }));
    expect(vectors).to.equal([VECTOR]);
  });

  it('is not read beyond what the vectors take', async () => {
    const padded = (spaces: number) =>
      JSON.stringify({ embeddings: [VECTOR] }) + ' '.repeat(spaces);
    expect(await faultOf(padded(60_000))).to.be.null();
    expect(await faultOf(padded(80_000))).to.equal(
      'nomic sent a reply that is too large. Try again or use another model',
    );
  });

  it('is refused at once if it is nothing but brackets', async () => {
    expect(await faultOf('['.repeat(60_000))).to.equal(
      'nomic sent a different number of vectors than texts. Try again or use another model',
    );
  });
});
