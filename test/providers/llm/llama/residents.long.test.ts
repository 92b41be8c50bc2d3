import { rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../../../harness/app.js';
import { type FrozenClock, frozenClock } from '../../../harness/clock.js';
import { withEngine } from '../../../harness/llamaengine.js';
import {
  HOLDING_ENGINE,
  installFakeEngine,
  installScripted,
  modelFile,
  modelProcesses,
} from '../../../harness/llamahome.js';
import { installClock, type LlamaStage, llamaStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const MIB = 1024 ** 2;

/** Waits until so many run in a home. */
const running = (home: string, count: number) =>
  untilMatches(async () => modelProcesses(home).length, count);

describe('models in memory (needs node-llama-cpp)', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage();
    installClock(stage.home, 'clock');
    installScripted(stage.home, 'parrot', ['Hello']);
  });
  afterEach(() => stage.close());

  const short = { maxOutputTokens: 4 };

  it('answer one request at a time', withEngine, async () => {
    const heard: string[] = [];
    const ask = (who: string) =>
      stage.step('clock', { ...short, onText: () => heard.push(who) }).then(({ text }) => text);
    expect(await Promise.all([ask('a'), ask('b')])).to.equal([
      'tick tock tick tock',
      'tick tock tick tock',
    ]);
    expect(heard).to.equal([...'aaaabbbb']);
    expect(modelProcesses(stage.home)).to.have.length(1);
  });

  it('are not asked by those who have stopped waiting', withEngine, async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const first = stage.step('clock', { maxOutputTokens: 20, onText: () => stop.abort() });
    const second = stage.failure('clock', { signal: stop.signal, onText: (on) => heard.push(on) });
    expect(await second).to.equal('aborted: The call of clock was stopped');
    await first;
    expect(heard).to.equal([]);
    expect((await stage.step('clock', short)).text).to.equal('tick tock tick tock');
  });

  it('are unloaded when they were idle for a while, and loaded again', withEngine, async () => {
    const clock = frozenClock();
    stage.open({ clock });
    await stage.step('parrot');
    clock.forward(59_999);
    expect(modelProcesses(stage.home)).to.have.length(1);
    clock.forward(1);
    await running(stage.home, 0);
    expect((await stage.step('parrot')).text).to.equal('Hello');
  });

  it('are started again after somebody has killed them', withEngine, async () => {
    const kill = () => {
      for (const pid of modelProcesses(stage.home)) process.kill(pid, 'SIGKILL');
    };
    expect(await stage.failure('clock', { onText: kill })).to.equal(
      'server: clock stopped unexpectedly: it was ended by SIGKILL',
    );
    expect((await stage.step('clock', short)).text).to.equal('tick tock tick tock');
  });

  it('name their removal as the reason why a reply ended', withEngine, async () => {
    const remove = () => void stage.llama.unload('clock');
    expect(await stage.failure('clock', { onText: remove })).to.equal(
      'server: clock was stopped: it was removed or is damaged',
    );
  });

  it('are refused with what they need where the memory is short', withEngine, async () => {
    stage.open({
      memory: {
        freeBytes: async () => 100 * MIB,
        neededBytes: async (path, contextWindow) =>
          path.includes('/parrot/') ? contextWindow * MIB : 0,
      },
    });
    expect(await stage.failure('parrot')).to.equal(
      'refused_connection: parrot was not loaded: it needs 2.0 GiB with a context of 2048 tokens, but only 100 MiB of memory are free',
    );
    expect(modelProcesses(stage.home)).to.equal([]);
  });

  it('stay beside each other where both fit', withEngine, async () => {
    await stage.step('parrot');
    await stage.step('clock', short);
    expect(modelProcesses(stage.home)).to.have.length(2);
  });

  it('leave their memory to another once they have answered', withEngine, async () => {
    // There is room for one of them.
    const freeBytes = async () => 100 * MIB * (1 - modelProcesses(stage.home).length);
    stage.open({ memory: { freeBytes, neededBytes: async () => 100 * MIB } });
    const order: string[] = [];
    let parrot: Promise<unknown> | undefined;
    const ask = () => {
      parrot ??= stage.step('parrot').then(() => order.push('parrot'));
    };
    const clock = (asked: object) => stage.step('clock', asked).then(() => order.push('clock'));
    const first = clock({ maxOutputTokens: 20, onText: ask });
    await first;
    await parrot;
    expect(modelProcesses(stage.home)).to.have.length(1);
    await clock(short);
    expect(order).to.equal(['clock', 'parrot', 'clock']);
    expect(modelProcesses(stage.home)).to.have.length(1);
  });

  it('end with the daemon, which refuses more', withEngine, async () => {
    let closing: Promise<void> | undefined;
    const failure = await stage.failure('clock', {
      onText: () => {
        closing ??= stage.llama.close();
      },
    });
    expect(failure).to.equal('server: clock stopped unexpectedly: it was ended by SIGKILL');
    await closing;
    expect(modelProcesses(stage.home)).to.equal([]);
    expect(await stage.failure('clock')).to.equal(
      'refused_connection: clock was not called: the daemon is stopping',
    );
  });
});

describe('a load', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage({ hasEngine: false });
    installFakeEngine(stage.home, HOLDING_ENGINE);
    put('held', 'hold');
    put('other', 'Hello');
  });
  afterEach(() => stage.close());

  const put = (slug: string, text: string) => writeFileSync(modelFile(stage.home, slug), text);
  /** Waits until so many models have asked for memory, which they wait for at most 15 s. */
  const waitingForMemory = (clock: FrozenClock, count: number) =>
    untilMatches(async () => clock.pending().filter((ms) => ms === 15_000).length, count);
  /** Memory for one model at a time, as far as none is in it. */
  const forOne = {
    freeBytes: async () => 100 * MIB * (1 - Math.min(1, modelProcesses(stage.home).length)),
    neededBytes: async () => 100 * MIB,
  };

  it('goes on beside one that hangs, where both fit', async () => {
    const stop = new AbortController();
    const hung = stage.failure('held', { signal: stop.signal });
    await running(stage.home, 1);
    expect((await stage.step('other')).text).to.equal('Hello');
    expect(modelProcesses(stage.home)).to.have.length(2);
    stop.abort();
    await hung;
  });

  it('waits for the memory of one that hangs until that has failed', async () => {
    const clock = frozenClock();
    stage.open({ clock, loadMs: 5000, memory: forOne });
    const hung = stage.failure('held');
    await clock.waiting(5000);
    const other = stage.step('other');
    await waitingForMemory(clock, 2);
    clock.forward(5000);
    expect(await hung).to.equal('timeout: held was not loaded: it did not load within 5 s');
    expect((await other).text).to.equal('Hello');
  });

  it('does not wait for ever for the memory of one that answers', async () => {
    const clock = frozenClock();
    stage.open({ clock, loadMs: 5000, memory: forOne });
    put('mute', 'mute');
    const stop = new AbortController();
    const answering = stage.failure('mute', { signal: stop.signal });
    // It has loaded, and answers.
    await clock.waiting(20_000);
    const other = stage.failure('other');
    await waitingForMemory(clock, 2);
    clock.forward(15_000);
    expect(await other).to.equal(
      'timeout: other was not loaded: no memory became free within 15 s, because other models are in use',
    );
    stop.abort();
    await answering;
    expect((await stage.step('other')).text).to.equal('Hello');
  });

  it('that waits for memory is given up with its caller', async () => {
    stage.open({ memory: forOne });
    const [first, second] = [new AbortController(), new AbortController()];
    const hung = stage.failure('held', { signal: first.signal });
    await running(stage.home, 1);
    const waiting = stage.failure('other', { signal: second.signal });
    second.abort();
    expect(await waiting).to.equal('aborted: The call of other was stopped');
    first.abort();
    await hung;
  });

  it('is ended once nobody waits for it', async () => {
    const stop = new AbortController();
    const failure = stage.failure('held', { signal: stop.signal });
    await running(stage.home, 1);
    stop.abort();
    expect(await failure).to.equal('aborted: The call of held was stopped');
    await running(stage.home, 0);
    put('held', 'Hello');
    expect((await stage.step('held')).text).to.equal('Hello');
  });

  it('goes on for those behind the caller who has left', async () => {
    const stop = new AbortController();
    const first = stage.failure('held', { signal: stop.signal });
    const second = stage.step('held');
    await running(stage.home, 1);
    const [pid] = modelProcesses(stage.home);
    stop.abort();
    await first;
    put('held', 'Hello');
    expect((await second).text).to.equal('Hello');
    expect(modelProcesses(stage.home)).to.equal([pid]);
  });

  it('is ended with its model when the files of that go before its process starts', async () => {
    stage.open({
      memory: {
        freeBytes: async () => null,
        neededBytes: async () => {
          rmSync(dirname(modelFile(stage.home, 'other')), { recursive: true });
          return null;
        },
      },
    });
    expect(await stage.failure('other')).to.equal(
      'refused_connection: other was not loaded: it was removed or is damaged',
    );
  });

  it('is ended with its process when the model is unloaded', async () => {
    const failure = stage.failure('held');
    await running(stage.home, 1);
    await stage.llama.unload('other');
    expect(modelProcesses(stage.home)).to.have.length(1);
    await stage.llama.unload('held');
    await running(stage.home, 0);
    expect(await failure).to.equal(
      'refused_connection: held was not loaded: it was removed or is damaged',
    );
  });
});

describe('vectors of a model that runs here (needs node-llama-cpp)', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage();
    installScripted(stage.home, 'parrot', ['Hello']);
  });
  afterEach(() => stage.close());

  const embed = (texts: string[], dimensions = 384) =>
    stage.llama
      .embedding(
        {
          ...{ name: 'vectors', modelId: 'parrot', contextWindow: 64, maxOutputTokens: null },
          ...{ takesTools: false, price: null },
        },
        dimensions,
      )
      .embed(texts, new AbortController().signal);

  it('are the same for the same text, and others for another', withEngine, async () => {
    const { vectors, inputTokens } = await embed(['fox', 'hen', 'fox']);
    expect(vectors.map((each) => each.length)).to.equal([384, 384, 384]);
    expect(vectors[2]).to.equal(vectors[0]);
    expect(vectors[1]).to.not.equal(vectors[0]);
    // <s>, a space, and three letters each.
    expect(inputTokens).to.equal(15);
  });

  it('are made of as much of a text as the model reads', withEngine, async () => {
    const { vectors, inputTokens } = await embed(['x'.repeat(500)]);
    expect([vectors.length, inputTokens]).to.equal([1, 57]);
  });

  it('are refused with other dimensions', withEngine, async () => {
    const message = await embed(['fox'], 512).catch((error: Error) => error.message);
    expect(message).to.equal(
      'vectors sent vectors of 384 dimensions instead of 512. Set the number: adjutant models update vectors --dimensions 384 (if the model is active, first run: adjutant models routing remove embeddings)',
    );
  });
});
