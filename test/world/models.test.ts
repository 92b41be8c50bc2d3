import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../agents/stage.js';
import { frozenClock, until, untilMatches } from '../harness/app.js';
import {
  type ChatRequest,
  dictated,
  hangs,
  type Reply,
  refuses,
  says,
  streams,
} from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { send } from '../harness/wire.js';
import {
  alternating,
  always,
  calling,
  hasResult,
  pieces,
  refusing,
  spoken,
  streamed,
  unfinished,
} from './modelservers.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const isRead = ({ title }: { title: string }): boolean => title === 'Read';

const FRIDAY = 'It is Friday.';

describe('replies of the models of this world', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => startStage({}, clock));
  afterEach(() => {
    stage.model.forget();
    clock.forward(11 * 60_000);
  });

  const resultOf = async (prompt = 'Which day is it?') =>
    stage.reaches((await stage.spawn({ prompt })).id);

  for (const [form, ...texts] of [
    ['in a pair of marks', `<think>Whatever.</think>\n\n${FRIDAY}`],
    ['in two pairs of marks', '<think>Hm.</think>It is ', '<think>Whatever.</think>Friday.'],
    ['before a lone end', `Whatever.</think>${FRIDAY}`],
    ['in pieces', '<th', 'ink>What', 'ever.</thi', 'nk>It is Fri', 'day.'],
    ['before a lone end in pieces', 'What', 'ever.</th', 'ink>It is Fri', 'day.'],
    ['of Mistral', `[THINK]Whatever.[/THINK]${FRIDAY}`],
    ['of Seed', `<seed:think>Whatever.</seed:think>${FRIDAY}`],
    [
      'of gpt-oss',
      '<|channel|>analysis<|message|>Whatever.<|end|>',
      `<|start|>assistant<|channel|>final<|message|>${FRIDAY}`,
    ],
  ]) {
    it(`leaves out reasoning ${form}`, async () => {
      stage.model.script(pieces(...texts));
      expect((await resultOf()).result).to.equal(FRIDAY);
    });
  }

  it('leaves out the marks at the end of a turn', async () => {
    for (const mark of [
      '<|im_end|>',
      '<|eot_id|>\n',
      '<end_of_turn>',
      '</s>',
      '<|end|><|return|>',
    ]) {
      stage.model.script(pieces('It is ', `Friday.${mark}`));
      expect((await resultOf()).result, mark).to.equal(FRIDAY);
    }
    const quoted = 'ChatML ends a turn with `<|im_end|>`';
    stage.model.script(pieces(quoted));
    expect((await resultOf()).result).to.equal(quoted);
  });

  it('leaves out reasoning before a call', async () => {
    stage.model.script(
      streamed(
        { content: '<think>I look.</think>' },
        { tool_calls: [{ index: 0, id: 'k', function: { name: 'time_now', arguments: '{}' } }] },
      ),
      pieces(`<think>Done.</think>${FRIDAY}`),
    );
    const { result, sessionId } = await resultOf();
    const messages = await stage.messages(sessionId);
    const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    expect([result, said]).to.equal([FRIDAY, ['', FRIDAY]]);
  });

  for (const [form, text] of [
    ['bare', '{"name":"time_now","arguments":{}}'],
    ['with parameters', '{"name": "time.now", "parameters": {}}'],
    ['in a block of code', '```json\n{"name":"time_now","arguments":{}}\n```'],
    ['in a tag', '<tool_call>\n{"name":"time_now","arguments":{}}\n</tool_call>'],
    ['of Llama', '<function=time_now>{}</function>'],
    ['of Qwen Coder', '<tool_call>\n<function=time_now>\n</function>\n</tool_call>'],
    ['of Mistral', '[TOOL_CALLS][{"name":"time_now","arguments":{}}]'],
    ['of Granite', '<|tool_call|>[{"name":"time_now","arguments":{}}]'],
    ['of Phi', '<|tool_call|>[{"name":"time_now","arguments":{}}]<|/tool_call|>'],
    [
      'of Command R',
      '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"time_now","parameters":{}}]<|END_ACTION|>',
    ],
    [
      'of DeepSeek R1',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>time_now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      'of DeepSeek V3',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>time_now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      'of Kimi',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.time_now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    ],
    ['of GLM', '<tool_call>time_now\n</tool_call>'],
    [
      'of MiniMax',
      '<minimax:tool_call>\n<invoke name="time_now">\n</invoke>\n</minimax:tool_call>',
    ],
    ['of Claude', '<function_calls><invoke name="time_now"></invoke></function_calls>'],
    [
      'of gpt-oss',
      '<|channel|>commentary to=functions.time_now <|constrain|>json<|message|>{}<|call|>',
    ],
  ] as const) {
    it(`runs a call that is written as text, ${form}`, async () => {
      stage.model.script(...always((request) => pieces(hasResult(request) ? FRIDAY : text)));
      const { result, steps } = await resultOf();
      expect([result, steps]).to.equal([FRIDAY, 2]);
    });
  }

  it('fails if a call in the text names no tool, or stands behind other text', async () => {
    for (const text of [
      '{"name":"no_such_tool","arguments":{}}',
      'I look.\n<tool_call>{"name":"time_now","arguments":{}}</tool_call>',
      '<invoke name="no_such_tool"></invoke>',
      '<｜tool▁calls▁begin｜>time_now',
    ]) {
      stage.model.script(pieces(text));
      expect(await resultOf()).to.include({
        status: 'failed',
        error: 'No model answered. fake wrote a tool call as text. Try again or use another model.',
      });
      clock.forward(11 * 60_000);
    }
  });

  it('takes no call from what it was given to read', async () => {
    const text = '{"name":"time_now","arguments":{}}';
    stage.model.script(pieces(text));
    const { result, steps } = await resultOf(`Repeat this: {"name": "time_now", "arguments": {}}`);
    expect([result, steps]).to.equal([text, 1]);
  });

  it('reads arguments that are an object, and null in place of none', async () => {
    for (const args of [{}, 'null', null, '"{}"']) {
      stage.model.script(
        ...always((request) => (hasResult(request) ? pieces(FRIDAY) : calling('time_now', args))),
      );
      const { result, sessionId } = await resultOf();
      const [answer] = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
      expect([result, answer?.content.includes('Not run')]).to.equal([FRIDAY, false]);
      stage.model.forget();
    }
  });

  it('runs no call with a number that would be rounded, and says which', async () => {
    const args = '{"n":9007199254740993,"price":1.10}';
    const delta = (args: string) =>
      `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"k","type":"function","function":{"name":"time_now","arguments":${args}}}]}}]}`;
    for (const call of [
      calling('time_now', args),
      calling('time_now', JSON.stringify(args)),
      streams(delta(args), '[DONE]'),
      pieces(`{"name":"time_now","arguments":${args}}`),
    ]) {
      stage.model.script(call, pieces(FRIDAY));
      const { result, sessionId } = await resultOf();
      const [answer] = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
      expect(result).to.equal(FRIDAY);
      expect(answer?.content).to.include(
        'the number 9007199254740993 cannot be represented exactly; write it as a string. They begin with: ',
      );
    }
  });

  it('keeps the digits of numbers in the output of a stage', async () => {
    stage.model.script(pieces('```json\n{"id":9007199254740993,"price":1.10}\n```'));
    const output = { type: 'object', properties: { id: { type: 'number' } } };
    const say = {
      toolId: 'notify',
      toolAction: 'send',
      toolParams: { title: 'Read', message: 'All: {{stages.read.output}}' },
    };
    const stages = [
      { key: 'read', kind: 'agent', config: { prompt: 'Read it' }, output },
      { key: 'say', kind: 'tool', needs: ['read'], config: say },
    ];
    const { body } = await stage.ask('POST', '/api/pipelines/templates', { name: 'Read', stages });
    await stage.ask('POST', '/api/pipelines', { templateId: body.id });
    const { body: told } = await until(
      () => stage.ask('GET', '/api/notifications'),
      ({ body: { notifications } }) => notifications.some(isRead),
    );
    expect(told.notifications.find(isRead).body).to.equal(
      'All: {"id":9007199254740993,"price":1.10}',
    );
  });

  it('takes a reply without finish_reason if the server says that it is done', async () => {
    stage.model.script(unfinished('It is ', 'Friday.'));
    expect((await resultOf()).result).to.equal(FRIDAY);
  });

  it('takes counts of tokens in any form', async () => {
    const usage = '{"prompt_tokens":"12","completion_tokens":3.5,"total_tokens":null,"cost":"0.1"}';
    const choice = (part: string, text: string) =>
      `"choices":[{"index":0,"${part}":{"content":"${text}"},"finish_reason":"stop"}]`;
    const server: Reply = (response, request) =>
      request.stream
        ? streams(`{${choice('delta', FRIDAY)},"usage":${usage}}`, '[DONE]')(response, request)
        : send(response, 200, JSON.parse(`{${choice('message', FRIDAY)},"usage":${usage}}`));
    stage.model.script(server);
    const { result, usage: counted } = await resultOf();
    expect([result, counted.inputTokens, counted.outputTokens]).to.equal([FRIDAY, 12, 4]);
    stage.model.script((response, request) => server(response, { ...request, stream: false }));
    expect((await resultOf()).usage).to.equal(counted);
  });

  it('takes messages in place of deltas, in pieces, whole or after deltas', async () => {
    const message = (content: string, more: object = {}) =>
      JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content, ...more } }] });
    const end = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: FRIDAY } }] });
    for (const frames of [
      [message(FRIDAY)],
      [message('It is '), message('Friday.')],
      [message('It is '), message(FRIDAY)],
      [delta, message(FRIDAY)],
      [JSON.stringify({ choices: [{ index: 0, text: FRIDAY }] })],
      [JSON.stringify({ choices: [{ delta: { content: [{ type: 'text', text: FRIDAY }] } }] })],
    ]) {
      stage.model.script(streams(...frames, end, '[DONE]'));
      expect((await resultOf()).result, frames.join()).to.equal(FRIDAY);
    }
    const call = { id: 'k', type: 'function', function: { name: 'time_now', arguments: '{}' } };
    stage.model.script(streams(message('', { tool_calls: [call] }), end, '[DONE]'), pieces(FRIDAY));
    const { result, steps } = await resultOf();
    expect([result, steps]).to.equal([FRIDAY, 2]);
  });

  it('runs a call in the former form, or without an ID', async () => {
    const [name, args] = ['time_now', '{"timezone":"Asia/Tokyo"}'];
    for (const deltas of [
      [{ content: null, function_call: { name, arguments: args } }],
      [
        { function_call: { name, arguments: '' } },
        { function_call: { arguments: '{"timezone":' } },
        { function_call: { arguments: '"Asia/Tokyo"}' } },
      ],
      [{ function_call: { name, arguments: JSON.parse(args) } }],
      [{ tool_calls: [{ index: 0, id: '', function: { name, arguments: args } }] }],
      [{ tool_calls: [{ function: { name, arguments: args } }] }],
    ]) {
      stage.model.script(streamed(...deltas), pieces(FRIDAY));
      const { result, sessionId } = await resultOf();
      const [answer] = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
      expect(result, JSON.stringify(deltas)).to.equal(FRIDAY);
      expect(answer?.content).to.include('Asia/Tokyo');
      stage.model.forget();
    }
  });

  it('runs calls without indexes, in pieces and side by side, also as OpenAI', async () => {
    const model = { provider: 'openai', modelId: 'x', baseUrl: stage.model.baseUrl, name: 'bare' };
    await stage.ask('POST', '/api/models', model);
    const call = (id: string, args: string) => ({
      id,
      function: { name: 'time_now', arguments: args },
    });
    const more = (args: string) => ({ tool_calls: [{ function: { arguments: args } }] });
    const [tokyo, lima] = ['{"timezone":"Asia/Tokyo"}', '{"timezone":"America/Lima"}'];
    const bare = (...deltas: object[]): Reply =>
      streams(...deltas.map((delta) => JSON.stringify({ choices: [{ delta }] })), '[DONE]');
    for (const deltas of [
      [{ tool_calls: [call('a', tokyo), call('b', lima)] }],
      [
        { tool_calls: [call('a', '')] },
        ...[more('{"timezone":'), more('"Asia/Tokyo"}'), { tool_calls: [call('b', '')] }],
        ...[more('{"timezone":'), more('"America/Lima"}')],
      ],
    ]) {
      for (const name of ['bare', 'fake']) {
        stage.model.script(bare(...deltas), bare({ content: FRIDAY }));
        const { id } = await stage.spawn({ prompt: 'Which day is it?', model: name });
        const { result, sessionId, error } = await stage.reaches(id);
        expect([name, result, error]).to.equal([name, FRIDAY, null]);
        const answers = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
        expect(answers).to.have.length(2);
        expect(answers[0]?.content).to.include('Asia/Tokyo');
        expect(answers[1]?.content).to.include('America/Lima');
        stage.model.forget();
      }
    }
  });

  it('fails if the reply ends within its reasoning, so that the next model answers', async () => {
    const reason =
      'fake ended its reply within its reasoning, without an answer. Try again or use another model';
    stage.model.script(pieces('<think>', 'Which day is it? '));
    expect((await resultOf()).error).to.equal(`No model answered. ${reason}.`);
    clock.forward(11 * 60_000);
    const second = { provider: 'openai-compatible', modelId: 'x', baseUrl: stage.model.baseUrl };
    await stage.ask('POST', '/api/models', { ...second, name: 'second' });
    await stage.ask('POST', '/api/models', { ...second, name: 'first', fallbacks: ['second'] });
    stage.model.script(pieces('<think>Which day is it?'), pieces(FRIDAY));
    const { id } = await stage.spawn({ prompt: 'Which day is it?', model: 'first' });
    expect((await stage.reaches(id)).result).to.equal(FRIDAY);
  });

  it('fails if the reply is empty, so that the next model answers', async () => {
    stage.model.script(pieces(' \n'));
    expect((await resultOf()).error).to.equal(
      'No model answered. fake sent an empty reply. Check the model: adjutant models test fake',
    );
    stage.model.script(pieces(''), pieces(FRIDAY));
    const { id } = await stage.spawn({ prompt: 'Which day is it?', model: 'first' });
    expect((await stage.reaches(id)).result).to.equal(FRIDAY);
  });

  it('fails if the reply has no text before its limit, so that the next model answers', async () => {
    const thinking = { choices: [{ delta: { reasoning_content: 'hm' }, finish_reason: 'length' }] };
    stage.model.script(streams(JSON.stringify(thinking), '[DONE]'));
    expect((await resultOf()).error).to.equal(
      'No model answered. fake sent no text before its output limit. Set a higher maxOutputTokens or use another model.',
    );
  });

  it('fails if the server aborted the reply, in whatever words', async () => {
    const limited = { choices: [{ delta: { content: 'Half' }, finish_reason: 'model_length' }] };
    stage.model.script(streams(JSON.stringify(limited), '[DONE]'));
    expect((await resultOf()).result).to.include('Half');
    for (const reason of ['abort', 'insufficient_system_resource']) {
      const cut = { choices: [{ delta: { content: 'The first of' }, finish_reason: reason }] };
      stage.model.script(streams(JSON.stringify(cut), '[DONE]'));
      expect((await resultOf()).error).to.include('fake aborted its reply');
    }
  });

  it('fails if the reply has more calls than can be meant', async () => {
    const call = (id: number) => ({ id: `c${id}`, function: { name: 't', arguments: '' } });
    const events = Array.from({ length: 4000 }, (_, id) => ({
      choices: [{ delta: { tool_calls: [call(id)] } }],
    }));
    stage.model.script(streams(...events.map((event) => JSON.stringify(event)), '[DONE]'));
    expect((await resultOf()).error).to.include('fake sent more than 128 tool calls in one reply');
  });

  it('says that the reply after a call is empty', async () => {
    stage.model.script(calling('time_now', '{}'), pieces(''));
    const agent = await resultOf();
    const empty = 'The model returned an empty reply.';
    expect([agent.status, agent.result]).to.equal(['completed', empty]);
    const shown = (await stage.events(agent.id)).filter(({ type }) => type === 'agent.message');
    expect(shown.map(({ data }) => data.content)).to.equal(['', empty]);
  });

  it('says what is wrong if an error comes as a whole reply with status 200', async () => {
    stage.model.script((response) => send(response, 200, { error: 'Model is not loaded' }));
    expect((await resultOf()).error).to.include('its server has no model loaded');
  });

  it('takes a whole reply in place of a stream', async () => {
    stage.model.script((response, request) =>
      says({ text: FRIDAY })(response, { ...request, stream: false }),
    );
    expect((await resultOf()).result).to.equal(FRIDAY);
  });

  it('asks once more without stream_options, and then always so', async () => {
    stage.model.script(
      ...refusing(
        ({ stream_options }) => (stream_options ? 'Unknown argument: stream_options' : null),
        () => pieces(FRIDAY),
      ),
    );
    expect((await resultOf()).result).to.equal(FRIDAY);
    expect((await resultOf()).result).to.equal(FRIDAY);
    const sent = stage.model.asked.map(({ body }) => 'stream_options' in body);
    expect(sent).to.equal([true, false, false]);
  });

  it('asks once more in the form that a server wants', async () => {
    const calls = ({ messages }: ChatRequest) =>
      messages.flatMap(({ tool_calls }) => (tool_calls ?? []) as { id: string }[]);
    const results = ({ messages }: ChatRequest) => messages.filter(({ role }) => role === 'tool');
    const wishes: [string, (request: ChatRequest) => boolean][] = [
      [
        'messages.2.content must be a string, not null',
        ({ messages }) => messages.some(({ content }) => content === null || content === undefined),
      ],
      [
        'Tool call id was k1 but must be a-z, A-Z, 0-9, with a length of 9.',
        (request) =>
          calls(request).some(({ id }) => !/^[A-Za-z0-9]{9}$/.test(id)) ||
          results(request).some((each) => each.tool_call_id !== calls(request)[0]?.id),
      ],
      [
        'function_response.name: Name cannot be empty',
        (request) => results(request).some(({ name }) => name !== 'time_now'),
      ],
      [
        'Unknown name "additionalProperties" at tools[0]',
        ({ tools }) => JSON.stringify(tools).includes('"additionalProperties"'),
      ],
    ];
    for (const [message, isRefused] of wishes) {
      stage.model.script(
        ...refusing(
          (request) => (isRefused(request) ? message : null),
          (request) => (hasResult(request) ? pieces(FRIDAY) : calling('time_now', '{}')),
        ),
      );
      expect((await resultOf()).result, message).to.equal(FRIDAY);
      stage.model.forget();
    }
  });

  it('says what a server refuses', async () => {
    for (const [message, reason] of [
      [
        'this model does not support tools',
        'it does not support tools. Set supports.tools to false: adjutant models update fake --no-tools.',
      ],
      [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        'its server supports tools only if started with --enable-auto-tool-choice and --tool-call-parser. Check the model: adjutant models test fake',
      ],
      [
        'No models loaded. Please load a model in the developer page',
        'its server has no model loaded. Check the model: adjutant models test fake',
      ],
    ] as const) {
      stage.model.script(refuses(400, { message }));
      expect((await resultOf()).error).to.equal(`No model answered. fake answered 400: ${reason}`);
    }
  });

  it('sends the reasoning of a call back to the model', async () => {
    for (const [field, value] of [
      ['reasoning_content', 'The clock knows.'],
      ['reasoning', 'The clock knows.'],
      ['reasoning_details', [{ type: 'reasoning.text', text: 'The clock knows.', signature: 's' }]],
    ] as const) {
      stage.model.script(
        ...refusing(
          ({ messages }) =>
            messages.some((each) => each.tool_calls && !each[field]) ? `${field} is gone` : null,
          (request) =>
            hasResult(request) ? pieces(FRIDAY) : calling('time_now', '{}', { [field]: value }),
        ),
      );
      expect((await resultOf()).result).to.equal(FRIDAY);
      const sent = stage.model.asked.at(-1)?.body.messages.find(({ tool_calls }) => tool_calls);
      expect(sent?.[field]).to.equal(value);
      stage.model.forget();
    }
  });

  it('keeps reasoning from a server that refuses it', async () => {
    const error = "'messages.2': property 'reasoning_content' is unsupported";
    stage.model.script(
      ...refusing(
        ({ messages }) => (messages.some((each) => each.reasoning_content) ? error : null),
        (request) =>
          hasResult(request)
            ? pieces(FRIDAY)
            : calling('time_now', '{}', { reasoning_content: 'The clock knows.' }),
      ),
    );
    expect((await resultOf()).result).to.equal(FRIDAY);
  });

  it('gives empty reasoning to a server that wants it of each call', async () => {
    const error = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    stage.model.script(
      ...refusing(
        ({ messages }) =>
          messages.some((each) => each.tool_calls && each.reasoning_content === undefined)
            ? error
            : null,
        (request) => (hasResult(request) ? pieces(FRIDAY) : calling('time_now')),
      ),
    );
    expect((await resultOf()).result).to.equal(FRIDAY);
  });
});

describe('conversations with strict servers', () => {
  const stage = openForSuite(lab, startStage);
  afterEach(() => stage.model.forget());

  const goOn = async (id: string, content: string) => {
    await stage.ask('POST', `/api/agents/${id}/message`, { content });
    return stage.reaches(id);
  };

  it('go on after a reply that was cut off', async () => {
    stage.model.script(says({ text: 'A part of', finish: 'length' }));
    const { id } = await stage.reaches((await stage.spawn({ prompt: 'Begin' })).id);
    stage.model.script(...refusing(alternating, () => pieces('The rest.')));
    expect((await goOn(id, 'Go on')).result).to.equal('The rest.');
    const note = "[Note: The reply was cut off at the model's output limit.]";
    expect(spoken(stage.model.asked.at(-1)!.body)).to.equal([
      ['user', 'Begin'],
      ['assistant', 'A part of'],
      ['user', `${note}\n\nGo on`],
    ]);
  });

  it('have what came during a reply behind it', async () => {
    const slow = dictated();
    const begun = stage.model.nextAsked();
    stage.model.script(slow.reply, ...refusing(alternating, () => pieces('To Mainz.')));
    const { id } = await stage.spawn({ prompt: 'A ticket to Kiel' });
    await begun;
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Sorry, to Mainz' });
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Today' });
    await slow.say('To Kiel.');
    await slow.end();
    expect((await stage.reaches(id)).result).to.equal('To Mainz.');
    expect(spoken(stage.model.asked.at(-1)!.body)).to.equal([
      ['user', 'A ticket to Kiel'],
      ['assistant', 'To Kiel.'],
      ['user', 'Sorry, to Mainz\n\nToday'],
    ]);
  });

  it('go on after a stop', async () => {
    const begun = stage.model.nextAsked();
    stage.model.script(hangs, ...refusing(alternating, () => pieces('Well.')));
    const { id } = await stage.spawn({ prompt: 'First' });
    await begun;
    await stage.ask('POST', `/api/agents/${id}/stop`);
    expect((await goOn(id, 'Second')).result).to.equal('Well.');
    expect(spoken(stage.model.asked.at(-1)!.body)).to.equal([['user', 'First\n\nSecond']]);
  });

  it('have the system message in the first one where there is no such role', async () => {
    stage.model.script(
      ...refusing(
        ({ messages }) =>
          messages.some(({ role }) => role === 'system') ? 'System role not supported' : null,
        () => pieces('Well.'),
      ),
    );
    const { result } = await stage.reaches((await stage.spawn({ prompt: 'First' })).id);
    const [first] = stage.model.asked.at(-1)!.body.messages;
    expect([result, first?.role]).to.equal(['Well.', 'user']);
    expect(String(first?.content)).to.endWith('\n\nFirst');
  });

  it('have no system message where OpenAI supports none', async () => {
    const server = await startStage();
    server.model.script(
      ...refusing(
        (request) => {
          if (request.max_tokens !== undefined)
            return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
          const at = request.messages.findIndex(({ role }) => role === 'system');
          return at < 0
            ? null
            : `Unsupported value: 'messages[${at}].role' does not support 'system' with this model.`;
        },
        () => pieces('Well.'),
      ),
    );
    const { result } = await server.reaches((await server.spawn({ prompt: 'First' })).id);
    const { messages, max_completion_tokens } = server.model.asked.at(-1)!.body as ChatRequest & {
      max_completion_tokens?: number;
    };
    expect([result, messages[0]?.role]).to.equal(['Well.', 'user']);
    expect(Number(max_completion_tokens)).to.be.above(0);
    await server.stop();
  });

  it('have an assistant between results and a user where the roles must alternate', async () => {
    stage.model.script(calling('time_now'), hangs);
    const { id } = await stage.spawn({ prompt: 'First' });
    await untilMatches(async () => stage.model.asked.length, 2);
    stage.model.script(
      ...refusing(
        ({ messages }) =>
          messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
            ? "Unexpected role 'user' after role 'tool'"
            : null,
        () => pieces('Well.'),
      ),
    );
    await stage.ask('POST', `/api/agents/${id}/stop`);
    expect((await goOn(id, 'Second')).result).to.equal('Well.');
  });
});
