import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock } from '../harness/app.js';
import { breaks, hangs, type Reply, refuses, says, streams } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const garbage: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('<html>It works!</html>');
};

/** What a model may do instead of answering, the reason that the event then gives, and what counts. */
const FAILURES: [string, Reply, RegExp, 'nothing' | 'something'][] = [
  ['is rate limited', refuses(429, {}, { 'retry-after': '60' }), /^fake answered 429/, 'nothing'],
  ['fails', refuses(500), /^fake answered 500/, 'nothing'],
  ['wants another key', refuses(401, { code: 'invalid_api_key' }), /^fake answered 401/, 'nothing'],
  ['breaks off', breaks('The answer is'), /^fake /, 'something'],
  // A web page is no reply of a model, so it costs nothing.
  ['sends garbage', garbage, /^fake sent a web page/, 'nothing'],
  ['streams where none was asked for', streams('{"nonsense":1}', '[DONE]'), /^fake /, 'something'],
  [
    'withholds its reply',
    says({ text: '', finish: 'content_filter' }),
    /^fake withheld/,
    'something',
  ],
];

describe('fallbacks', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => startStage({}, clock));
  // Until the model may be asked again.
  afterEach(() => clock.forward(11 * 60_000));

  for (const [what, reply, because, counts] of FAILURES) {
    it(`fails when the model ${what}, and says why`, async () => {
      stage.model.script(reply);
      const { id } = await stage.spawn({ prompt: 'Sum up' });
      const agent = await stage.reaches(id);
      expect(agent).to.include({ status: 'failed', steps: 1, result: null });
      expect(agent.usage.inputTokens > 0).to.equal(counts === 'something');
      const [, reason] =
        /^No model answered\. (.*?)\.( Check the model: adjutant models test fake)?$/.exec(
          agent.error ?? '',
        ) ?? [];
      expect(reason).to.match(because);
    });
  }

  it('never cuts a prompt that is too large: the digest gets it whole', async () => {
    const { id } = await stage.spawn({ prompt: `Read this: ${'word '.repeat(90_000)}` });
    const agent = await stage.reaches(id);
    expect(agent.status).to.equal('completed');
    expect(stage.model.asked.filter(({ body }) => JSON.stringify(body).length > 90_000)).to.equal(
      [],
    );
    const [said] = (await stage.events(id)).filter(({ type }) => type === 'agent.message');
    expect(JSON.stringify(said?.data.passedOver)).to.match(
      /^\[\{"model":"fake","because":"fake was not called: the prompt has about \d{5,} tokens, but the context window has \d+"\}\]$/,
    );
  });

  it('answers with the next model where the one of the agent is configured no more', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    const other = await startStage({ drainSeconds: 0 }, undefined, home);
    other.model.script(hangs, says({ text: 'Another answers.' }));
    const asked = other.model.nextAsked();
    const { id } = await other.spawn({ prompt: 'Go on' });
    await asked;
    await other.restart({ modelName: 'renamed' });
    expect((await other.reaches(id)).result).to.equal('Another answers.');
    const said = (await other.events(id)).find(({ type }) => type === 'agent.message');
    expect(said?.data).to.include({
      model: 'renamed',
      passedOver: [{ model: 'fake', because: 'the model no longer exists' }],
    });
    await other.stop();
    await rm(home, { recursive: true });
  });
});

describe('the bounds of timeouts', () => {
  it('pass over a model that hangs', async () => {
    const stage = await startStage({ modelFirstTokenSeconds: 0.2 });
    stage.model.script(hangs);
    const { id } = await stage.spawn({ prompt: 'Anybody?' });
    expect((await stage.reaches(id)).error).to.equal(
      'No model answered. fake sent no token within 0.2 s. Check the model: adjutant models test fake',
    );
    expect(await stage.model.asked[0]?.gone).to.be.true();
    await stage.stop();
  });
});
