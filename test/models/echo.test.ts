import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../agents/stage.js';
import { streams } from '../harness/openai.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const KEY = 'sk-canary-of-the-model-sk-canary-of';
const FRAME = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one' };

/** A model that says these pieces, one frame each. */
const saying = (pieces: string[]) => {
  const frame = (delta: object, finish_reason: string | null) =>
    JSON.stringify({ ...FRAME, choices: [{ index: 0, delta, finish_reason }] });
  const said = pieces.map((content) => frame({ role: 'assistant', content }, null));
  return streams(...said, frame({}, 'stop'), '[DONE]');
};

describe('a model that says the key it was shown', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
    const spec = { name: 'told', provider: 'openai-compatible', modelId: 'one' };
    const { body } = await stage.ask('POST', '/api/vault', { name: 'key', value: KEY });
    const model = { ...spec, baseUrl: stage.model.baseUrl, credentialId: body.id };
    const made = await stage.ask('POST', '/api/models', model);
    expect(made.status, made.text).to.equal(201);
  });
  after(() => stage.stop());

  /** The pieces that a reader of the stream was given, and all that came. */
  const heard = async (pieces: string[]): Promise<{ text: string; all: string }> => {
    stage.model.script(saying(pieces));
    const { text: all } = await stage.call('POST', '/api/chat', {
      token: stage.token,
      headers: { accept: 'text/event-stream' },
      body: { message: 'Hello', model: 'told' },
    });
    const deltas = [...all.matchAll(/^event: delta\ndata: (.*)$/gm)];
    // A reader who comes after the end of the answer is given it whole.
    const [, whole = ''] = /^event: agent\.message\ndata: (.*)$/m.exec(all) ?? [];
    const told = deltas.length === 0 ? JSON.parse(whole).data.content : null;
    return { text: told ?? deltas.map(([, data = '']) => JSON.parse(data).text).join(''), all };
  };

  for (const [how, pieces] of [
    ['whole', [`It is ${KEY}.`]],
    ['letter by letter', ['It is ', ...KEY, '.']],
    ['in two', ['It is ', KEY.slice(0, 17), `${KEY.slice(17)}.`]],
    ['behind a part of itself', ['It is sk-canary-of-', KEY, '!']],
  ] as const) {
    it(`is not passed on: ${how}`, async () => {
      const { text, all } = await heard([...pieces]);
      const whole = pieces.join('');
      expect(text).to.equal(whole.replaceAll(KEY, '[hidden]'));
      expect(all).to.not.contain(KEY);
    });
  }

  it('is passed on where it only begins so, to the last letter', async () => {
    const { text } = await heard(['It is sk-can', 'dy, and sk-canary']);
    expect(text).to.equal('It is sk-candy, and sk-canary');
  });

  it('shows when its credential was used last', async () => {
    const { body } = await stage.ask('GET', '/api/vault');
    expect(body.credentials[0].lastUsedAt).to.not.be.null();
  });
});
