import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call, startStage } from './stage.js';

/** The parser's own words, which differ between versions of Node. */
const reasonOf = (text: string): string => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return (error as Error).message;
  }
};

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const broken = (text: string) => says({ toolCalls: [call('time_now', text)] });

describe('a call with arguments that cannot be parsed', () => {
  const stage = openForSuite(lab, startStage);
  beforeEach(() => stage.model.forget());

  const health = async () => {
    const { models } = (await stage.ask('GET', '/api/models')).body;
    return models.find(({ name }: { name: string }) => name === 'fake').health;
  };

  it('is told to the model, which goes on', async () => {
    stage.model.script(broken('{"timezone": "UT'), says({ text: 'Then without a clock.' }));
    const { id, sessionId } = await stage.spawn({ prompt: 'What time is it?' });
    expect(await stage.reaches(id)).to.include({
      status: 'completed',
      result: 'Then without a clock.',
      steps: 2,
    });
    const [, , result] = await stage.messages(sessionId);
    expect(result?.content).to.equal(
      'Not run. Call time_now again with one JSON object that matches its schema. The arguments ' +
        `of this call cannot be parsed: they are not valid JSON (${reasonOf('{"timezone": "UT')}). ` +
        'They begin with: {"timezone": "UT',
    );
    const { messages } = stage.model.asked[1]?.body ?? { messages: [] };
    expect(messages.at(-1)).to.include({ role: 'tool', content: result?.content });
    const results = (await stage.events(id)).filter(({ data }) => data.phase === 'result');
    expect(results.map(({ data }) => data.ok)).to.equal([false]);
  });

  it('is no failure of the model, however often it comes', async () => {
    const texts = ['{"a', '[1]', 'null', '{"timezone": }'];
    stage.model.script(...texts.map(broken), says({ text: 'Done.' }));
    const { id } = await stage.spawn({ prompt: 'What time is it?' });
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'Done.' });
    const replies = (await stage.events(id)).filter(({ type }) => type === 'agent.message');
    expect(replies.map(({ data }) => [data.model, data.passedOver])).to.equal(
      Array(5).fill(['fake', undefined]),
    );
    expect(await health()).to.include({ status: 'up', lastError: null, circuit: 'closed' });
  });

  it('ends the agent when it comes six times in a row, whatever the text', async () => {
    const texts = Array.from({ length: 8 }, (_, nth) => `{"timezone": ${nth}`);
    stage.model.script(...texts.map(broken));
    const { id } = await stage.spawn({ prompt: 'What time is it?' });
    expect(await stage.reaches(id)).to.include({
      status: 'failed',
      error:
        'stopped in a loop: time_now was called 6 times in a row with arguments that ' +
        'cannot be parsed',
      steps: 6,
    });
    expect(stage.model.asked.length).to.equal(6);
  });

  it('is told beside a call that waits for its owner, and once', async () => {
    const waits = call('shell_run', { argv: ['ls'] });
    stage.model.script(
      says({ toolCalls: [call('time_now', '{"a'), waits] }),
      says({ text: 'Denied, then.' }),
    );
    const { id, sessionId } = await stage.spawn({ prompt: 'List what is there' });
    await stage.reaches(id, 'waiting_approval');
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'No' });
    await stage.reaches(id);
    const results = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content.slice(0, 27))).to.equal([
      'Not run. Call time_now agai',
      'Not approved: the owner sen',
    ]);
  });
});
