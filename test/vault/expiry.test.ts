import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, startApp, type TestApp, until } from '../harness/app.js';
import { type Openai, says, startOpenai } from '../harness/openai.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;

describe('a credential that has expired', () => {
  let clock: FrozenClock;
  let app: TestApp;
  let target: Target;
  let model: Openai;
  let token: string;
  let id: string;

  before(async () => {
    clock = frozenClock();
    [target, model] = [await openTarget(), await startOpenai()];
    app = await startApp({ clock, config: { egressAllow: [target.address], tokenHours: 720 } });
    ({ token } = await app.register('ada'));
    const expiresAt = new Date(clock.now() + MINUTE).toISOString();
    const lent = { allowedTools: ['http'], allowedHosts: [target.address] };
    const given = { name: 'pat', value: 'sk-of-the-model', expiresAt, ...lent };
    id = (await ask('POST', '/api/vault', given)).body.id;
    await ask('POST', '/api/models', spec('mine'));
    await ask('PUT', '/api/models/routing', { default: 'mine', topics: [] });
  });
  after(async () => {
    await app.stop();
    await model.stop();
    target.close();
  });

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const spec = (name: string) => ({
    ...{ name, provider: 'openai-compatible', modelId: 'one' },
    ...{ baseUrl: model.baseUrl, credentialId: id },
  });
  const call = () =>
    ask('POST', '/api/skills/http/tools/request/execute', {
      arguments: {
        method: 'GET',
        url: target.url,
        headers: { authorization: 'Bearer $credential(pat)' },
      },
    });
  /** How an agent of the model ends. */
  const answered = async () => {
    const { body } = await ask('POST', '/api/agents', { prompt: 'Hello', model: 'mine' });
    const ended = await until(
      () => ask('GET', `/api/agents/${body.id}`),
      (reply) => ['completed', 'failed'].includes(reply.body.status),
    );
    return { result: ended.body.result, error: ended.body.error };
  };

  it('is good until then, and from then on refused to all, by its name', async () => {
    model.script(says({ text: 'With a key.' }));
    expect((await call()).status).to.equal(200);
    expect(await answered()).to.equal({ result: 'With a key.', error: null });
    const [asked] = model.asked;
    expect(asked?.headers.authorization).to.equal('Bearer sk-of-the-model');
    clock.forward(MINUTE);

    const refused = await call();
    expect([refused.status, refused.body.message]).to.equal([
      409,
      'The credential pat has expired. The owner must renew the credential.',
    ]);
    expect(target.received.length).to.equal(1);

    expect(await answered()).to.equal({
      result: null,
      error:
        'No model answered. mine: its credential pat has expired. Check the model: adjutant models test mine',
    });
    const tested = await ask('POST', '/api/models/mine/test');
    expect(tested.body).to.equal({
      ...{ ok: false, latencyMs: 0 },
      error: 'mine: its credential pat has expired',
    });
    const tried = await ask('POST', '/api/models/test', { ...spec('x'), name: undefined });
    expect([tried.status, tried.body.details]).to.equal([
      400,
      [{ path: 'credentialId', message: 'has expired' }],
    ]);
    expect(model.asked.length).to.equal(1);
  });

  it('is good again once it is renewed', async () => {
    const { body } = await ask('POST', `/api/vault/${id}/rotate`, { value: 'sk-newer' });
    expect(Date.parse(body.credential.expiresAt)).to.be.above(clock.now());
    model.script(says({ text: 'With another key.' }));
    expect((await answered()).result).to.equal('With another key.');
    expect(model.asked.at(-1)?.headers.authorization).to.equal('Bearer sk-newer');
    expect((await call()).status).to.equal(200);
  });
});
