import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { says, startOpenai } from '../harness/openai.js';
import { at, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

describe('routing', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
    for (const name of ['one', 'two', 'three', 'off']) await stage.add(name);
    await stage.ask('PATCH', at('off'), { enabled: false });
  });
  after(() => stage.stop());
  beforeEach(async () => {
    await stage.ask('PUT', '/api/models/routing', { default: 'one', topics: [] });
  });

  const routing = async () => (await stage.ask('GET', '/api/models/routing')).body;
  const change = (body: object) => stage.ask('PUT', '/api/models/routing', body);
  const triage = { topic: 'triage', primary: 'two', fallbacks: ['three', 'digest'] };

  it('is changed as a whole or by its default alone', async () => {
    const report = { topic: 'report', primary: 'off', fallbacks: [] };
    const { status, body } = await change({
      topics: [triage, { topic: 'report', primary: 'off' }],
    });
    expect([status, body]).to.equal([200, { default: 'one', topics: [report, triage] }]);
    expect((await change({ default: 'three' })).body.topics).to.equal([report, triage]);
    expect((await change({ topics: [triage] })).body).to.equal({
      default: 'three',
      topics: [triage],
    });
    expect(await routing()).to.equal({ default: 'three', topics: [triage] });
    expect((await stage.ask('GET', at('two'))).body.topics).to.equal(['triage']);
  });

  for (const [what, body, path] of [
    ['an unknown default', { default: 'nobody' }, 'default'],
    ['a default that is off', { default: 'off' }, 'default'],
    ['an unknown model', { topics: [{ ...triage, primary: 'nobody' }] }, 'topics.0.primary'],
    ['an unknown fallback', { topics: [{ ...triage, fallbacks: ['x'] }] }, 'topics.0.fallbacks.0'],
    ['a model twice', { topics: [{ ...triage, fallbacks: ['two'] }] }, 'topics.0.fallbacks'],
    ['a topic twice', { topics: [triage, triage] }, 'topics'],
    ['nothing', {}, ''],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const before = await routing();
      const { status, body: reply } = await change(body);
      expect([status, reply.details[0].path]).to.equal([400, path]);
      expect(await routing()).to.equal(before);
    });
  }

  it('has its default from the model that was chosen', async () => {
    const { status, body } = await stage.ask('POST', `${at('two')}/default`);
    expect([status, body.name, body.isDefault]).to.equal([200, 'two', true]);
    expect((await stage.ask('GET', at('one'))).body.isDefault).to.be.false();
    const off = await stage.ask('POST', `${at('off')}/default`);
    expect([off.status, off.body.code]).to.equal([409, 'model_disabled']);
    expect((await stage.ask('POST', `${at('nobody')}/default`)).status).to.equal(404);
    expect((await stage.ask('POST', `${at('digest')}/default`)).body.isDefault).to.be.true();
  });

  it('follows the topics that a model is given', async () => {
    await change({ topics: [triage] });
    await stage.ask('PATCH', at('three'), { topics: ['triage', 'notes'] });
    expect((await routing()).topics).to.equal([
      { topic: 'notes', primary: 'three', fallbacks: [] },
      { topic: 'triage', primary: 'three', fallbacks: ['digest'] },
    ]);
    await stage.ask('PATCH', at('three'), { topics: [] });
    expect((await routing()).topics).to.equal([]);
  });

  it('goes on without a model that is deleted', async () => {
    await stage.add('gone');
    await stage.add('friend', { fallbacks: ['gone', 'one'] });
    const topics = [
      { topic: 'a', primary: 'gone', fallbacks: ['two'] },
      { topic: 'b', primary: 'two', fallbacks: ['gone', 'three'] },
      { topic: 'c', primary: 'gone', fallbacks: [] },
    ];
    await change({ default: 'gone', topics });
    await stage.ask('DELETE', at('gone'));
    expect(await routing()).to.equal({
      default: 'one',
      topics: [
        { topic: 'a', primary: 'two', fallbacks: [] },
        { topic: 'b', primary: 'two', fallbacks: ['three'] },
      ],
    });
    expect((await stage.ask('GET', at('friend'))).body.fallbacks).to.equal(['one']);
    await stage.ask('DELETE', at('friend'));
  });

  it('outlives a restart', async () => {
    await change({ default: 'three', topics: [triage] });
    await stage.restart();
    expect(await routing()).to.equal({ default: 'three', topics: [triage] });
  });

  it('decides which model an agent gets', async () => {
    const server = await startOpenai(...Array.from({ length: 4 }, () => says({ text: 'Yes.' })));
    for (const name of ['one', 'two']) {
      await stage.ask('PATCH', at(name), { baseUrl: server.baseUrl, modelId: `served-${name}` });
    }
    await change({ topics: [triage] });
    const modelOf = async (body: object): Promise<string> =>
      (await stage.ask('POST', '/api/agents', { prompt: 'Hi', ...body })).body.model;
    expect(await modelOf({})).to.equal('one');
    expect(await modelOf({ topic: 'triage' })).to.equal('two');
    expect(await modelOf({ topic: 'other' })).to.equal('one');
    expect(await modelOf({ topic: 'triage', model: 'one' })).to.equal('one');
    const refused = await stage.ask('POST', '/api/agents', { prompt: 'Hi', model: 'off' });
    expect([refused.status, refused.body.details[0].path]).to.equal([400, 'model']);
    await server.stop();
  });
});
