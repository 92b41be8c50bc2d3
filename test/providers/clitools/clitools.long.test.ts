import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createCliTools } from '../../../src/providers/clitools/clitools.js';
import type { ToolName } from '../../../src/providers/clitools/tool.js';
import { cliTools } from '../../../src/providers/clitools/tools.js';
import { findConfinement } from '../../../src/providers/confine/find.js';
import {
  ModelFailure,
  type ModelRequest,
  type StepReply,
} from '../../../src/providers/llm/model.js';
import { frozenClock } from '../../harness/app.js';
import { type Act, type Bench, openBench } from '../../harness/clitools/fake.js';
import { answers, begins, refuses, speech, stalls } from '../../harness/clitools/speech.js';
import { processesWith, until } from '../confine/ground.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const confinement = await findConfinement({ allowUnconfined: false });
const confined = { skip: confinement?.kind !== 'bubblewrap' };

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const NAMES = Object.values(cliTools).map(({ name }) => name);
const TIMEOUTS = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 1_800_000 };

describe('command-line tools as models (needs bubblewrap)', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.clear());

  const open = (clock = frozenClock()) =>
    createCliTools({
      ...{ home: bench.home, path: [bench.path], confinement, clock },
      timeouts: TIMEOUTS,
    });

  const asks = (
    name: ToolName,
    tools = open(),
    over: Partial<ModelRequest> = {},
  ): Promise<StepReply> =>
    tools.model({ name: 'mine', modelId: name, contextWindow: 1000, price: null }).step({
      turns: [{ role: 'user', content: 'What is it?' }],
      tools: [],
      signal: new AbortController().signal,
      ...over,
    });

  const fails = async (asked: Promise<StepReply>): Promise<ModelFailure> => {
    const failure = await asked.then(
      () => null,
      (error: unknown) => error,
    );
    if (failure instanceof ModelFailure) return failure;
    throw new Error(`No ModelFailure: ${failure}`);
  };

  const lay = async (name: ToolName, ...acts: Act[]): Promise<void> => {
    await bench.logIn(name);
    await bench.lay(name, ...acts);
  };

  for (const name of NAMES) {
    it(`hears the answer of ${name} piece by piece, and what it took`, confined, async () => {
      await lay(name, ...answers(name, 'It is ', 'a hat.'));
      const heard: string[] = [];
      const reply = await asks(name, open(), { onText: (text) => heard.push(text) });
      expect(reply).to.equal({
        text: 'It is a hat.',
        toolCalls: [],
        usage: { inputTokens: 11, outputTokens: 5, costUsd: null },
        finish: 'stop',
      });
      expect(heard).to.equal(['It is ', 'a hat.']);
    });

    it(`knows ${name} refused for its quota, and for its login`, confined, async () => {
      await lay(name, ...refuses(name, 'quota'));
      const tools = open();
      const { kind, usage } = await fails(asks(name, tools));
      expect([kind, usage]).to.equal(['rate_limited', undefined]);
      const told = tools.quotas().find((quota) => quota.name === name);
      expect(told).to.equal({
        ...{ name, used: null, limit: null, resetsAt: null },
        ...{ exhausted: true, source: 'rejected request' },
      });
      await lay(name, ...refuses(name, 'login'));
      expect((await fails(asks(name))).kind).to.equal('credentials');
    });

    it(`ends ${name} when it uses a tool of its own`, confined, async () => {
      const { acts } = speech[name];
      await lay(name, ...begins(name), { print: acts }, ...answers(name, 'It is a hat.'));
      const { kind, message } = await fails(asks(name));
      expect([kind, message]).to.equal([
        'invalid_reply',
        'mine was stopped because its own tools are enabled. It may use only the tools of Adjutant',
      ]);
    });

    it(`passes over what ${name} says that is new`, confined, async () => {
      const odd = [{ type: 'a new one' }, [], null, 7, 'no JSON', '{"type":', { type: {} }];
      await lay(name, ...odd.map((print) => ({ print })), ...answers(name, 'It is a hat.'));
      expect((await asks(name)).text).to.equal('It is a hat.');
    });
  }

  it('says who is not there, and who is not logged in', confined, async () => {
    expect((await fails(asks('claude'))).message).to.equal(
      'mine cannot run: claude is not installed',
    );
    await bench.lay('codex', ...answers('codex', 'It is a hat.'));
    const { kind, message } = await fails(asks('codex'));
    expect([kind, message]).to.equal([
      'credentials',
      'mine is not logged in. Run: adjutant models cli login codex',
    ]);
  });

  it('takes the end of the process for no answer', confined, async () => {
    const ends: Record<string, Act[]> = {
      'mine sent no reply: it ended with code 3': [{ exit: 3 }],
      'mine sent no reply: it ended with code 0': [{ print: 'garbage' }, { print: '{}' }],
      'mine sent no reply: it ended with code 137': [...begins('claude'), { do: 'die' }],
    };
    for (const [sentence, acts] of Object.entries(ends)) {
      await lay('claude', ...acts);
      const { kind, message } = await fails(asks('claude'));
      expect([kind, message]).to.equal(['invalid_reply', sentence]);
    }
  });

  it('waits no longer than a model may take, and leaves nothing behind', confined, async () => {
    const clock = frozenClock();
    const slow = open(clock);
    const late = async (name: ToolName, limitMs: number): Promise<ModelFailure> => {
      const failure = fails(asks(name, slow));
      await clock.waiting(limitMs);
      clock.forward(limitMs);
      return failure;
    };
    await lay('gemini', ...begins('gemini'), { do: 'hang' });
    await lay('codex', ...begins('codex'), { do: 'hang' });
    await lay('claude', ...stalls('claude', 'It is '));
    const first = await late('gemini', 120_000);
    expect([first.kind, first.message]).to.equal(['timeout', 'mine sent no token within 120 s']);
    expect((await late('codex', 120_000)).kind).to.equal('timeout');
    const silent = await late('claude', 60_000);
    expect([silent.kind, silent.message]).to.equal([
      'timeout',
      'mine sent no further token for 60 s',
    ]);
    // What was seen of an answer counts; before any part of it nothing does.
    const { inputTokens = 0, outputTokens } = silent.usage ?? {};
    expect([first.usage, inputTokens > 0, outputTokens]).to.equal([undefined, true, 2]);
    expect(await processesWith(bench.path)).to.equal([]);
  });

  it('ends one that floods, with lines and without', confined, async () => {
    for (const flood of ['lines', 'line'] as const) {
      await lay('opencode', { flood });
      const { kind, message } = await fails(asks('opencode'));
      expect([kind, message]).to.equal([
        'invalid_reply',
        'mine exceeded the maximum length of a reply',
      ]);
    }
    await lay('claude', ...Array(6).fill({ print: speech.claude.says('x'.repeat(1024 * 1024)) }));
    expect((await fails(asks('claude'))).message).to.equal(
      'mine exceeded the maximum length of a reply',
    );
  });

  it('is stopped with all that it started', confined, async () => {
    await lay('claude', ...stalls('claude', 'It is '));
    const stop = new AbortController();
    let asked: Promise<ModelFailure> | undefined;
    await new Promise<void>((resolve) => {
      const listening = { signal: stop.signal, onText: () => resolve() };
      asked = fails(asks('claude', open(), listening));
    });
    expect(await tellers(bench.path)).to.equal(1);
    stop.abort();
    expect((await asked)?.kind).to.equal('aborted');
    expect(await processesWith(bench.path)).to.equal([]);
  });

  it('lets four work at once, and whoever is stopped leaves the line', confined, async () => {
    await lay('gemini', ...begins('gemini'), { do: 'hang' });
    const tools = open();
    const stop = new AbortController();
    const asked = Array.from({ length: 6 }, () =>
      fails(asks('gemini', tools, { signal: stop.signal })),
    );
    await until(async () => (await tellers(bench.path)) === 4);
    stop.abort();
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds).to.equal(Array(6).fill('aborted'));
    await until(async () => (await tellers(bench.path)) === 0);
  });

  it('tells what is there, and looks anew after a minute', confined, async () => {
    const clock = frozenClock();
    const deps = { home: bench.home, path: [bench.path], confinement, clock, timeouts: TIMEOUTS };
    const tools = createCliTools(deps);
    await lay('claude', ...answers('claude', 'It is a hat.'));
    const absent = { available: false, version: null, path: null, loggedIn: false };
    const there = {
      available: true,
      version: '3.2.1',
      path: `${bench.path}/claude`,
      loggedIn: true,
    };
    const others = NAMES.filter((name) => name !== 'claude').map((name) => ({ name, ...absent }));
    expect(await tools.status()).to.equal([{ name: 'claude', ...there }, ...others]);
    await bench.lay('codex', ...answers('codex', 'It is a hat.'));
    expect((await tools.status())[1]).to.equal({ name: 'codex', ...absent });
    clock.forward(60_000);
    const found = { ...there, path: `${bench.path}/codex`, loggedIn: false };
    expect((await tools.status())[1]).to.equal({ name: 'codex', ...found });
    const off = createCliTools({ ...deps, confinement: null });
    expect((await off.status())[0]).to.equal({
      ...{ name: 'claude', ...there, available: false, version: null },
    });
    expect((await fails(asks('claude', off))).message).to.equal(
      'mine cannot run: no confinement works on this machine',
    );
  });
});

/** How many of the tools in that folder run, one process each. */
const tellers = async (path: string): Promise<number> =>
  (await processesWith(path)).filter((line) => line.startsWith(process.execPath)).length;
