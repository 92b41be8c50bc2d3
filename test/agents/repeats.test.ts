import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { countRepetitions } from '../../src/agents/repeats.js';
import type { TranscriptMessageRow } from '../../src/store/tables/agents.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** One letter is one answer's call, a blank something that the owner said. */
const rows = (letters: string): TranscriptMessageRow[] =>
  [...letters].map((letter, seq) => ({
    seq,
    role: letter === ' ' ? 'user' : 'assistant',
    content: '',
    tool_calls:
      letter === ' ' ? null : JSON.stringify([{ id: `${seq}`, name: letter, arguments: {} }]),
    tool_call_id: null,
    agent_id: 'agent_a',
    generation: null,
  }));
const times = (letters: string): number => countRepetitions(rows(letters), 'agent_a');

describe('repetitionsOf', () => {
  it('counts the same answer, and circles of a few', () => {
    for (const [letters, count] of [
      ['', 1],
      ['a', 1],
      ['ab', 1],
      ['aaa', 3],
      ['baaaa', 4],
      ['abab', 2],
      ['xabcabcabc', 3],
      ['abcdabcd', 2],
      ['aab', 1],
    ] as const) {
      expect([letters, times(letters)]).to.equal([letters, count]);
    }
  });

  it('begins anew when somebody speaks, and does not count what others did', () => {
    expect(times('aaa a')).to.equal(1);
    expect(countRepetitions(rows('aaa'), 'agent_b')).to.equal(1);
  });

  it('takes the order of arguments for nothing, and their values for all', () => {
    const answers = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 3 },
    ].map((args, seq) => ({
      ...rows('a')[0],
      ...{ seq, role: 'assistant' as const, content: '', tool_call_id: null, agent_id: 'agent_a' },
      generation: null,
      tool_calls: JSON.stringify([{ id: `${seq}`, name: 't', arguments: args }]),
    }));
    expect(countRepetitions(answers.slice(0, 2), 'agent_a')).to.equal(2);
    expect(countRepetitions(answers, 'agent_a')).to.equal(1);
  });
});

describe('an agent that goes round in circles', () => {
  const stage = openForSuite(lab, startStage);

  it('is told, and ended with a clear error', async () => {
    const again = says({ toolCalls: [call('time_now')] });
    stage.model.script(...Array.from({ length: 10 }, () => again));
    const { id, sessionId } = await stage.spawn({ prompt: 'What time is it?' });
    const agent = await stage.reaches(id);
    expect(agent).to.include({
      status: 'failed',
      error: 'stopped in a loop: time_now was called 6 times in a row with the same arguments',
      steps: 6,
    });
    const results = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content.startsWith('Not run: you have made'))).to.equal([
      ...[false, false, false],
      ...[true, true],
    ]);
  });

  it('goes on when it takes the hint', async () => {
    stage.model.script();
    const again = says({ toolCalls: [call('time_now', { timezone: 'Asia/Tokyo' })] });
    const fresh = await startStage();
    fresh.model.script(again, again, again, again, says({ text: 'Late in Tokyo.' }));
    const { id } = await fresh.spawn({ prompt: 'And in Tokyo?' });
    expect(await fresh.reaches(id)).to.include({ status: 'completed', result: 'Late in Tokyo.' });
    await fresh.stop();
  });
});
