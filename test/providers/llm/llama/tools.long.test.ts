import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  removeNullFillers,
  toLlamaFunctions,
} from '../../../../src/providers/llm/llama/grammar.js';
import { buildLlamaHistory } from '../../../../src/providers/llm/llama/history.js';
import type { ToolSpec, Turn } from '../../../../src/providers/llm/model.js';
import { withEngine } from '../../../harness/llamaengine.js';
import { installCaller } from '../../../harness/llamahome.js';
import { type LlamaStage, llamaStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const WEATHER: ToolSpec = {
  name: 'getWeather',
  description: 'The weather of a city',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, day: { type: 'string', format: 'date' } },
    required: ['city'],
  },
};
const ASKED: Turn = { role: 'user', content: 'What is the weather in Oslo?' };

describe('tools of a model that runs here (needs node-llama-cpp)', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage();
  });
  afterEach(() => stage.close());

  it('are called, and their results are answered', withEngine, async () => {
    const given = { name: 'getWeather', input: '{"city": "Oslo", "day": null}' };
    installCaller(stage.home, 'caller', given, ['It is', ' sunny.']);
    const tools = [WEATHER];
    const called = await stage.step('caller', { turns: [ASKED], tools });
    const { toolCalls, finish, text } = called;
    expect([text, finish, toolCalls]).to.equal([
      '',
      'tool_calls',
      [{ id: toolCalls[0]?.id, name: 'getWeather', arguments: { city: 'Oslo' } }],
    ]);
    const result = { role: 'tool' as const, toolCallId: toolCalls[0]!.id, toolName: 'getWeather' };
    const turns: Turn[] = [
      ASKED,
      { role: 'assistant', content: text, toolCalls },
      { ...result, content: '{"sky":"clear"}' },
    ];
    const answered = await stage.step('caller', { turns, tools });
    expect([answered.text, answered.finish]).to.equal(['It is sunny.', 'stop']);
  });
});

describe('the history of a model that runs here', () => {
  it('has calls, their results and what follows in one message', () => {
    const call = (id: string) => ({ id, name: 'getWeather', arguments: { city: id } });
    const result = (toolCallId: string, content: string): Turn => ({
      ...{ role: 'tool', toolCallId, toolName: 'getWeather', content },
    });
    const history = buildLlamaHistory('m', [
      { role: 'system', content: 'Be brief' },
      ASKED,
      { role: 'assistant', content: 'I look', toolCalls: [call('a'), call('b')] },
      result('a', '{"sky":"clear"}'),
      result('b', 'no such city'),
      { role: 'assistant', content: 'Clear', toolCalls: [] },
      { role: 'user', content: 'Thanks' },
    ]);
    const part = { type: 'functionCall' as const, name: 'getWeather' };
    expect(history).to.equal([
      { type: 'system', text: 'Be brief' },
      { type: 'user', text: 'What is the weather in Oslo?' },
      {
        type: 'model',
        response: [
          'I look',
          { ...part, params: { city: 'a' }, result: { sky: 'clear' }, startsNewChunk: true },
          { ...part, params: { city: 'b' }, result: 'no such city', startsNewChunk: false },
          'Clear',
        ],
      },
      { type: 'user', text: 'Thanks' },
      { type: 'model', response: [] },
    ]);
  });

  it('is refused without turns, or with a call that has no result', () => {
    const open: Turn = {
      ...{ role: 'assistant', content: '' },
      toolCalls: [{ id: 'a', name: 'getWeather', arguments: {} }],
    };
    expect(() => buildLlamaHistory('m', [])).to.throw(
      'm was not called: the conversation is empty. Send a message first',
    );
    expect(() => buildLlamaHistory('m', [ASKED, open])).to.throw(
      'm was not called: tool calls and tool results do not match. Start a new conversation',
    );
  });
});

const SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 9000, description: 'Of the thing' },
    kind: { enum: ['a', 'b'] },
    note: { type: ['string', 'null'] },
    at: { $ref: '#/$defs/place' },
    all: { type: 'array', items: { $ref: '#/$defs/place' } },
    rest: { type: 'object' },
    odd: { not: {} },
  },
  required: ['id', 'at'],
  $defs: { place: { type: 'object', properties: { x: { type: 'integer' } } } },
};
const NULL = { type: 'null' };
const PLACE = {
  type: 'object',
  properties: { x: { oneOf: [{ type: 'integer' }, NULL] } },
};
const ANY = [
  { type: ['string', 'number', 'boolean', 'null'] },
  { type: 'object', additionalProperties: true },
  { type: 'array' },
];

describe('the grammar of arguments', () => {
  it('lets what may be left out be null, and follows references', () => {
    const { thing } = toLlamaFunctions([
      { name: 'thing', description: 'Does it', inputSchema: SCHEMA },
    ]);
    expect(thing).to.equal({
      description: 'Does it',
      params: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Of the thing' },
          kind: { oneOf: [{ enum: ['a', 'b'] }, NULL] },
          note: { type: ['string', 'null'] },
          at: PLACE,
          all: { oneOf: [{ type: 'array', items: PLACE }, NULL] },
          rest: { oneOf: [{ type: 'object', additionalProperties: true }, NULL] },
          odd: { oneOf: [{ oneOf: ANY }, NULL] },
        },
      },
    });
  });

  it('ends a schema that contains itself', () => {
    const inputSchema = { type: 'object', properties: { next: { $ref: '#' } } };
    const text = JSON.stringify(toLlamaFunctions([{ name: 'list', description: '', inputSchema }]));
    expect(text).to.contain('additionalProperties');
    expect(text.length).to.be.below(3000);
  });

  it('gives no arguments to a tool that has none', () => {
    const inputSchema = { type: 'object', properties: {} };
    expect(toLlamaFunctions([{ name: 'now', description: 'Now', inputSchema }])).to.equal({
      now: { description: 'Now' },
    });
  });

  it('takes the nulls out again that stand for nothing', () => {
    const given = {
      id: 'i',
      kind: null,
      note: null,
      at: { x: null },
      all: [{ x: 1 }, { x: null }],
    };
    expect(removeNullFillers(given, SCHEMA)).to.equal({
      id: 'i',
      note: null,
      at: {},
      all: [{ x: 1 }, {}],
    });
  });
});
