import type { ModelRequest, StepReply } from '../../src/providers/llm/model.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { median } from './load.js';

/** What a process of its own measures of the loop of agents; prints it as one line of JSON. */
export interface AgentFigures {
  /** Of one agent that is alone, in milliseconds: question, answer, tool call and result, durable. */
  stepMs: number;
  /** Of many agents at once, and the processor time of a step of these, in milliseconds. */
  stepsPerSecond: number;
  stepCpuMs: number;
  /** Resident memory idle, with all agents in a question, and when all have ended. */
  idleMb: number;
  heldMb: number;
  endedMb: number;
}

const AGENTS = 200;
const STEPS = 20;
const ROUNDS = 5;
/** Of one lane, by the settings. */
const PER_LANE = 8;
const ZONES = Intl.supportedValuesOf('timeZone');

/** Answers at once: a harmless tool call with other arguments each time, and text in the end. */
const answer = ({ turns }: ModelRequest): StepReply => {
  const asked = turns.filter(({ role }) => role === 'tool').length;
  const timezone = ZONES[asked % ZONES.length];
  const call = { id: `call${asked}`, name: 'time_now', arguments: { timezone } };
  const isLast = asked === STEPS - 1;
  return {
    text: isLast ? 'Done.' : '',
    toolCalls: isLast ? [] : [call],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: null },
    finish: isLast ? 'stop' : 'tool_calls',
  };
};

/** The daemon in this process, with a model in the place of the one that is configured. */
const startBench = async (hold: () => Promise<unknown>): Promise<TestApp> => {
  const app = await startApp({
    config: { modelUrl: 'http://127.0.0.1:9/v1', modelName: 'fake', jobConcurrency: AGENTS },
  });
  const model = inside(app.app).registry.find('fake')?.model;
  if (!model) throw new Error('There is no model to put another in the place of');
  model.step = async (step) => {
    if (step.turns.length === 2) await hold();
    return answer(step);
  };
  return app;
};

const run = async (app: TestApp, userId: string, count: number): Promise<void> => {
  const { control } = inside(app.app);
  for (let n = 0; n < count; n++) {
    await control.spawn({
      ...{ userId, prompt: 'Work', model: 'fake', channel: 'api', untrusted: false },
      lane: `bench-${Math.floor(n / PER_LANE)}`,
    });
  }
};

/** Resolves when so many more have completed. */
const completed = (app: TestApp, userId: string, count: number): Promise<void> =>
  new Promise((resolve) => {
    let left = count;
    const stop = inside(app.app).hub.listen(userId, 'agent.status', (data) => {
      if (!JSON.stringify(data).includes('"status":"completed"') || --left > 0) return;
      stop();
      resolve();
    });
  });

const megabytes = (): number => Math.round(process.memoryUsage.rss() / 1024 / 1024);

const measure = async (): Promise<AgentFigures> => {
  let open = (): void => undefined;
  let gate = Promise.resolve();
  let held = 0;
  const app = await startBench(() => {
    held++;
    return gate;
  });
  const { id: userId } = await app.register('owner');
  const alone: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const end = completed(app, userId, 1);
    const since = performance.now();
    await run(app, userId, 1);
    await end;
    alone.push((performance.now() - since) / STEPS);
  }
  const idleMb = megabytes();
  gate = new Promise((resolve) => {
    open = resolve;
  });
  held = 0;
  const end = completed(app, userId, AGENTS);
  await run(app, userId, AGENTS);
  await until(
    async () => held,
    (count) => count === AGENTS,
    60_000,
  );
  const heldMb = megabytes();
  const since = performance.now();
  const before = process.cpuUsage();
  open();
  await end;
  const seconds = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(before);
  const endedMb = megabytes();
  await app.stop();
  const stepMs = median(alone.slice(1));
  const steps = AGENTS * STEPS;
  const stepCpuMs = (user + system) / 1000 / steps;
  return { stepMs, stepsPerSecond: steps / seconds, stepCpuMs, idleMb, heldMb, endedMb };
};

console.log(JSON.stringify(await measure()));
