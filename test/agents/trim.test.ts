import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { trimConversation } from '../../src/agents/trim.js';
import { buildTurns } from '../../src/agents/turns.js';
import { estimateTokens } from '../../src/providers/llm/tokens.js';
import type { TranscriptMessageRow } from '../../src/store/tables/agents.js';
import { inside } from '../harness/inside.js';
import { says } from '../harness/openai.js';
import { mind } from './mind.js';
import { call, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LONG = 'x'.repeat(3000);

let seq = 0;
const row = (
  role: TranscriptMessageRow['role'],
  content: string,
  more: Partial<TranscriptMessageRow> = {},
): TranscriptMessageRow => ({
  seq: ++seq,
  role,
  content,
  tool_calls: null,
  tool_call_id: null,
  agent_id: 'me',
  generation: null,
  ...more,
});
const exchange = (id: string, result = LONG): TranscriptMessageRow[] => [
  row('assistant', `answer ${id}`, {
    tool_calls: JSON.stringify([{ id, name: 'files_read', arguments: { path: id } }]),
  }),
  row('tool', result, { tool_call_id: id }),
];
const task = row('user', `${LONG} the task and its payload`);

describe('trim', () => {
  const rows = [task, ...exchange('a'), ...exchange('b'), row('user', 'And?'), ...exchange('c')];

  it('leaves alone what fits', () => {
    expect(trimConversation(rows, 'me', 0)).to.equal({ rows, dropped: null });
  });

  it('drops the oldest results first, and no more than it must', () => {
    const { rows: kept, dropped } = trimConversation(rows, 'me', 900);
    expect(dropped).to.equal({ results: 1, messages: 0 });
    expect(kept.map(({ content }) => content.length)).to.equal([
      task.content.length,
      'answer a'.length,
      92,
      'answer b'.length,
      3000,
      4,
      'answer c'.length,
      3000,
    ]);
  });

  it('drops old exchanges whole, at last, and never the task, its owner or the newest', () => {
    const { rows: kept, dropped } = trimConversation(rows, 'me', 1e9);
    expect(dropped).to.equal({ results: 2, messages: 2 });
    expect(kept.map(({ role, content }) => [role, content.slice(0, 8)])).to.equal([
      ['user', 'xxxxxxxx'],
      ['user', 'And?'],
      ['assistant', 'answer c'],
      ['tool', 'xxxxxxxx'],
    ]);
    expect(kept[0]).to.equal(task);
  });

  it('drops what was said in the session before the task before the agent’s own answers', () => {
    const before = [row('user', LONG, { agent_id: 'other' }), row('assistant', LONG)];
    const { rows: kept, dropped } = trimConversation([...before, ...rows], 'me', 2600);
    expect(dropped).to.equal({ results: 2, messages: 1 });
    expect(kept[0]).to.equal(before[1]);
  });

  it('keeps all results of the newest answer', () => {
    const calls = ['p', 'q'].map((id) => ({ id, name: 'files_read', arguments: {} }));
    const newest = [
      row('assistant', '', { tool_calls: JSON.stringify(calls) }),
      row('tool', LONG, { tool_call_id: 'p' }),
      row('tool', LONG, { tool_call_id: 'q' }),
    ];
    const { rows: kept } = trimConversation([task, ...exchange('a'), ...newest], 'me', 1e9);
    expect(kept).to.equal([task, ...newest]);
  });

  it('leaves a conversation that every provider takes', () => {
    for (const excess of [1, 900, 1800, 2000, 2100, 1e9]) {
      const turns = buildTurns(trimConversation(rows, 'me', excess).rows);
      const asked = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
      const answered = turns.flatMap((turn) => (turn.role === 'tool' ? [turn.toolCallId] : []));
      expect(answered).to.equal(asked.map(({ id }) => id));
    }
  });
});

/** The tokens of the tools that an agent is offered, by the same estimate as the daemon's. */
const offeredTokens = async (): Promise<number> => {
  const stage = await startStage();
  stage.model.script(says({ text: 'Nothing to do.' }));
  const { id } = await stage.spawn({ prompt: 'Wait.', tools: ['files'] });
  await stage.reaches(id, 'completed');
  await stage.stop();
  const offered = (stage.model.asked[0]?.body.tools ?? []).map(({ function: tool }) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters,
  }));
  return estimateTokens([], offered);
};

describe('an agent whose conversation outgrows its model', () => {
  it('is told what was left out, says so in its events, and ends its work', async () => {
    // Beside the tools, the results of six calls have no room.
    const stage = await startStage({ modelContext: (await offeredTokens()) + 5_500 });
    const asked: string[][] = [];
    let turn = 0;
    stage.model.script(
      ...mind(({ system, results }) => {
        asked.push([system, ...results]);
        if (++turn > 6) return { text: 'Read all.' };
        return { toolCalls: [call('files_read', { path: `${turn}.txt` }, `read${turn}`)] };
      }),
    );
    const { id, sessionId } = await stage.spawn({ prompt: `Read on. ${LONG}`, tools: ['files'] });
    await stage.reaches(id);
    const { events } = (await stage.ask('GET', `/api/agents/${id}/events`)).body;
    expect(events.some(({ data }: { data: { leftOut?: unknown } }) => data.leftOut)).to.be.false();

    const folder = await inside(stage.app).folderOf(stage.userId, id);
    for (let n = 1; n <= 6; n++) await writeFile(`${folder}/${n}.txt`, `${n}${LONG}`);
    turn = 0;
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Now they are there.' });
    const read = await stage.reaches(id, 'completed');
    expect(read.result).to.equal('Read all.');
    const [system, ...results] = asked.at(-1) ?? [];
    expect(system).to.match(/removed to fit your context window: \d+ tool results/);
    expect(results.some((content) => content.startsWith('[Removed to fit'))).to.be.true();
    expect(results.at(-1)).to.contain('6xxx');
    const left = (await stage.events(id)).map(({ data }) => data.leftOut).filter(Boolean);
    expect(left.at(-1)).to.include({ messages: 0 });
    const whole = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    expect(whole.every(({ content }) => !content.startsWith('[Removed to fit'))).to.be.true();
    await stage.stop();
  });
});
