import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { anthropic } from '../harness/anthropic.js';
import { frozenClock, until } from '../harness/app.js';
import { google } from '../harness/google.js';
import { misbehaviours } from '../harness/misbehave.js';
import { ollama } from '../harness/ollama.js';
import { openaiDialects } from '../harness/openai.js';
import { type Dialect, startDialect, type Wire, type WireReply } from '../harness/wire.js';
import { at, ELSEWHERE, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const TOTAL_MS = 1000;
const TIMEOUTS = {
  modelFirstTokenSeconds: 0.4,
  modelSilenceSeconds: 0.4,
  modelTotalSeconds: TOTAL_MS / 1000,
};
/** Time that passes between two movements of the clock, in milliseconds. */
const STEP_MS = 20;
const CALL = { id: 'c1', name: 'time_now', arguments: '{}' };

/** Whatever the first model does, the second one answers, and in time (G14). */
for (const dialect of [...openaiDialects.slice(1), anthropic, google, ollama]) {
  describe(`an agent whose model is one of ${dialect.provider}`, () => {
    const clock = frozenClock();
    let stage: Stage;
    let bad: Wire;
    let good: Wire;
    /** Time passes only during such a reply, so that the second model has time on a busy machine. */
    const timed =
      <B>(reply: WireReply<B>): WireReply<B> =>
      (response, body) => {
        const timer = setInterval(() => clock.forward(STEP_MS), STEP_MS);
        response.once('close', () => clearInterval(timer));
        reply(response, body);
      };
    before(async () => {
      stage = await startStage(TIMEOUTS, clock);
      [bad, good] = await Promise.all([startDialect(dialect), startDialect(dialect)]);
      const { provider } = dialect;
      await stage.add('good', { provider, baseUrl: good.baseUrl });
      await stage.add('bad', { provider, baseUrl: bad.baseUrl, fallbacks: ['good'] });
    });
    after(async () => {
      await stage.stop();
      await Promise.all([bad.stop(), good.stop()]);
    });
    // A change makes a model's past be forgotten.
    const begin = async (): Promise<void> => {
      await stage.ask('PATCH', at('good'), { baseUrl: good.baseUrl });
      await stage.ask('PATCH', at('bad'), { baseUrl: bad.baseUrl });
      good.script(dialect.says({ text: 'All is well.' }));
    };
    beforeEach(begin);

    const answers = async (): Promise<void> => {
      const spawned = await stage.ask('POST', '/api/agents', {
        prompt: 'How is it?',
        model: 'bad',
      });
      const { body } = await until(
        () => stage.ask('GET', `/api/agents/${spawned.body.id}`),
        (reply) => ['completed', 'failed'].includes(reply.body.status),
      );
      expect(body).to.include({ status: 'completed', result: 'All is well.' });
      const { body: page } = await stage.ask('GET', `/api/agents/${body.id}/events`);
      const said = page.events.findLast(({ type }: { type: string }) => type === 'agent.message');
      expect(said.data.model).to.equal('good');
      expect(said.data.passedOver.map(({ model }: { model: string }) => model)).to.equal(['bad']);
      expect(said.data.passedOver[0].because).to.match(/^bad /);
    };

    for (const [what, reply] of Object.entries(misbehaviours)) {
      it(`is answered by the next one in spite of ${what}`, async () => {
        bad.script(timed(reply(dialect)));
        await answers();
        // A connection that was kept may end just as the request is sent on it.
        if (bad.asked.length === 0) await begin().then(answers);
        expect(bad.asked.length).to.be.above(0);
      });
    }

    it('is answered by the next one in spite of a closed port', async () => {
      await stage.ask('PATCH', at('bad'), { baseUrl: ELSEWHERE });
      await answers();
    });

    it('is answered by the next one in the middle of its work', async () => {
      const { 'a hang in mid-stream': hang } = misbehaviours;
      bad.script(
        dialect.says({ text: 'Looking.', toolCalls: [CALL] }),
        timed(hang?.(dialect) ?? (() => {})),
      );
      await answers();
    });
  });
}

describe('an agent none of whose models answers', () => {
  it('fails with the reason of each', async () => {
    const stage = await startStage(TIMEOUTS);
    const [dialect = ollama as Dialect] = openaiDialects;
    const { 'a hang before the headers': hang } = misbehaviours;
    const wire = await startDialect(dialect, hang?.(dialect) ?? (() => {}));
    await stage.add('lost');
    await stage.add('silent', { baseUrl: wire.baseUrl, fallbacks: ['lost'] });
    await stage.ask('POST', `${at('silent')}/default`);
    const { body } = await stage.ask('POST', '/api/agents', { prompt: 'Anybody?' });
    const ended = await until(
      () => stage.ask('GET', `/api/agents/${body.id}`),
      (reply) => reply.body.status === 'failed',
    );
    expect(ended.body.error).to.equal(
      'No model answered. silent sent no token within 0.4 s. lost at 127.0.0.1: the connection was refused. Check the model: adjutant models test silent',
    );
    await stage.stop();
    await wire.stop();
  });
});
