import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock } from '../harness/app.js';
import { type Reply, says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const body =
  (content: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(content);
  };

const completion = (message: unknown, rest: object = {}): Reply =>
  body(
    JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'fake',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      ...rest,
    }),
  );

const usage = (prompt_tokens: unknown, completion_tokens: unknown): Reply =>
  completion(
    { role: 'assistant', content: 'Counted oddly.' },
    { usage: { prompt_tokens, completion_tokens, total_tokens: 0 } },
  );

const nested = `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`;
const time = call('time_now');

/** What a model may do; each is done for ever, and every agent comes to an end all the same. */
const BEHAVIOURS: Record<string, Reply> = {
  'calls the same tool for ever': says({ toolCalls: [time] }),
  'calls and talks at once': says({ text: 'One moment.', toolCalls: [time] }),
  'calls tools that do not exist': says({ toolCalls: [call('rm_rf'), call('')] }),
  'names tools in garbage': says({ toolCalls: [call('💥 \u0000 DROP TABLE agents;--')] }),
  'names a tool at great length': says({ toolCalls: [call('x'.repeat(100_000))] }),
  'gives arguments of the wrong shape': says({ toolCalls: [call('notify_send', { message: 5 })] }),
  'gives a list as arguments': says({ toolCalls: [call('time_now', '[1,2]')] }),
  'gives null as arguments': says({ toolCalls: [call('time_now', 'null')] }),
  'gives no arguments': says({ toolCalls: [call('time_now', '')] }),
  'gives broken arguments': says({ toolCalls: [call('time_now', '{"timezone": "UT')] }),
  'nests its arguments deep': says({ toolCalls: [call('notify_send', nested)] }),
  'gives enormous arguments': says({
    toolCalls: [call('notify_send', { message: 'x'.repeat(3_000_000) })],
  }),
  'poisons the prototype': says({ toolCalls: [call('time_now', '{"__proto__":{"a":1}}')] }),
  'makes five hundred calls at once': says({ toolCalls: Array(500).fill(time) }),
  'makes calls without ids': says({
    toolCalls: [call('time_now', {}, ''), call('time_now', {}, '')],
  }),
  'makes calls with enormous ids': says({ toolCalls: [call('time_now', {}, 'i\n'.repeat(5000))] }),
  'answers with nothing': says({ text: '' }),
  'answers with blanks': says({ text: ' \n\t ' }),
  'answers at enormous length': says({ text: 'word'.repeat(1_000_000) }),
  'answers in broken unicode': says({ text: '\ud800 \u0000 \udfff \u202e \ufffe 💥' }),
  'is cut off by its length': says({ text: 'The answer is', finish: 'length' }),
  'is cut off in a call': says({
    toolCalls: [call('time_now', '{"time')],
    finish: 'length',
  }),
  'ends for a reason unheard of': says({ text: 'Ended.', finish: 'bored' }),
  'reports no usage': says({ text: 'Free.', usage: null }),
  'reports negative usage': usage(-100, -5),
  'reports endless usage': usage(1e300, 1e300),
  'reports usage in fractions': usage(1.5, 0.1),
  'reports usage in words': usage('many', 'more'),
  'says null': completion(null),
  'has no choices': completion({}, { choices: [] }),
  'has many choices': completion(
    {},
    {
      choices: [1, 2, 3].map((index) => ({
        index,
        message: { role: 'assistant', content: `Choice ${index}` },
        finish_reason: 'stop',
      })),
    },
  ),
  'sends no JSON': body('Segmentation fault'),
  'sends nothing': body(''),
  'speaks as the user': completion({ role: 'user', content: 'I am you.' }),
};

const ENDS =
  /^(limit of 4 steps reached|No model answered\. fake sent (no text before its output limit\. Set a higher maxOutputTokens or use another model\.|(an (invalid|empty) reply|more than 128 tool calls in one reply)\. Check the model: adjutant models test fake))$/;

describe('an odd model', () => {
  const clock = frozenClock();
  let stage: Stage;
  let doing: Reply;
  before(async () => {
    stage = await startStage({}, clock);
    stage.model.script(
      ...Array.from(
        { length: 200 },
        (): Reply =>
          (...of) =>
            doing(...of),
      ),
    );
  });
  after(() => stage.stop());
  // Until the model may be asked again.
  afterEach(() => clock.forward(11 * 60_000));

  for (const [what, reply] of Object.entries(BEHAVIOURS)) {
    it(`that ${what} ends, and can be read`, async () => {
      doing = reply;
      const { id, sessionId } = await stage.spawn({ prompt: 'Go', limits: { maxSteps: 4 } });
      const agent = await stage.reaches(id);
      expect(['completed', 'failed']).to.include(agent.status);
      if (agent.status === 'completed') expect(agent.result?.trim()).to.not.be.empty();
      else expect(agent.error).to.match(ENDS);
      expect(agent.usage.inputTokens).to.be.at.least(0);

      expect((await stage.ask('GET', `/api/agents/${id}/events?limit=200`)).status).to.equal(200);
      const messages = await stage.ask('GET', `/api/sessions/${sessionId}/messages?limit=200`);
      expect(messages.status).to.equal(200);
    });
  }

  it('runs at most 32 calls of one answer and says how many were left out', async () => {
    doing = says({ toolCalls: Array(100).fill(time) });
    const { id } = await stage.spawn({ prompt: 'Many', limits: { maxSteps: 1 } });
    await stage.reaches(id);
    const events = await stage.events(id);
    expect(events.filter(({ data }) => data.phase === 'result').length).to.equal(32);
    expect(events.find(({ type }) => type === 'agent.message')?.data.droppedCalls).to.equal(68);
  });
});
