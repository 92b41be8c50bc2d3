import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { adapters, type Provider } from '../../../src/providers/llm/adapters.js';
import { openAiSdkModel } from '../../../src/providers/llm/create.js';
import { ModelFailure } from '../../../src/providers/llm/model.js';
import type { GlobalFetch } from '../../../src/providers/llm/wire.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KEY = 'sk-canary-of-this-key';
const PROVIDERS = Object.keys(adapters).filter((name): name is Provider => name in adapters);

const failing = async (
  provider: Provider,
  apiKey: string,
  fetch: GlobalFetch,
  isStreamed: boolean,
) => {
  const model = openAiSdkModel({
    ...{ name: 'house/fake', provider, modelId: 'fake-1', contextWindow: 8000 },
    ...{ baseUrl: 'http://127.0.0.1:9/v1', apiKey, fetch },
  });
  const step = model.step({
    turns: [{ role: 'user', content: 'Hello' }],
    tools: [],
    signal: new AbortController().signal,
    ...(isStreamed && { onText: () => {} }),
  });
  const failure = await expect(step).to.reject(ModelFailure);
  expect(`${failure.message} ${failure.stack} ${failure.cause}`).to.not.contain('canary');
  return { kind: failure.kind, message: failure.message };
};

const unasked: GlobalFetch = () => Promise.reject(new Error('No request was to be made'));

/** What a library may throw once it has seen the request. */
const THROWN: [string, (headers: string) => unknown][] = [
  ['a TypeError', (said) => new TypeError(`Headers.append: "${said}" is an invalid header value.`)],
  ['an error with a cause', (said) => new Error(said, { cause: new Error(said) })],
  ['an error named so', (said) => Object.assign(new Error(said), { name: said })],
  ['an error of many', (said) => new AggregateError([new Error(said)], said)],
  ['a text', (said) => said],
  ['an object', (said) => ({ message: said, name: said })],
];

describe('the libraries behind models', () => {
  for (const provider of PROVIDERS) {
    for (const isStreamed of [true, false]) {
      const way = `${provider}, ${isStreamed ? 'streamed' : 'whole'}`;

      it(`are not shown a key that no header holds: ${way}`, async () => {
        for (const odd of [`${KEY}\nX: y`, `${KEY}\r\n`, `${KEY}\u0000`, `${KEY} ü`, ` ${KEY}`]) {
          expect(await failing(provider, odd, unasked, isStreamed)).to.equal({
            kind: 'credentials',
            message:
              'house/fake was not called: the API key of the model contains a character that is not allowed in an HTTP header. Set the API key again.',
          });
        }
      });

      it(`tell nothing of a key, whatever they throw: ${way}`, async () => {
        for (const [what, thrown] of THROWN) {
          const fetch: GlobalFetch = (_, init) =>
            Promise.reject(thrown(`Bearer ${JSON.stringify(init?.headers)} ${KEY}`));
          const { message } = await failing(provider, KEY, fetch, isStreamed);
          expect(message, what).to.match(
            /^house\/fake (was not called: client error \(\w{1,40}\)|sent an invalid reply|aborted its reply with an error)$/,
          );
        }
      });
    }
  }
});
