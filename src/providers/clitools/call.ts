import type { Clock } from '../../kernel/clock.js';
import {
  type ConfinedProcess,
  type Confinement,
  ConfinementFailed,
} from '../confine/confinement.js';
import { abortFailure } from '../llm/failure.js';
import { ModelFailure, type ModelRequest, type Price } from '../llm/model.js';
import { createReplyReader } from '../llm/replytext.js';
import { createTally, withUsage } from '../llm/tally.js';
import { type ModelTimeouts, watchTimeouts } from '../llm/timeouts.js';
import type { InstalledTool, ToolFinder } from './find.js';
import { createCallFolder, homeEnv, isLoggedIn, openHome } from './home.js';
import { writePrompt } from './prompt.js';
import type { Quotas } from './quota.js';
import { listen } from './run.js';
import type { CliTool } from './tool.js';

export interface CallDeps {
  home: string;
  confinement: Confinement | null;
  timeouts: ModelTimeouts;
  clock: Clock;
  find: ToolFinder;
  quotas: Quotas;
}

export interface ToolModel {
  name: string;
  tool: CliTool;
  model: string | null;
  price: Price | null;
}

/** The process has ended when this settles. Throws ModelFailure. */
export const call = async (deps: CallDeps, of: ToolModel, request: ModelRequest) => {
  const { confinement, known } = await ready(deps, of);
  const { system, prompt } = writePrompt(request.turns);
  const home = await openHome(deps.home, of.tool.name);
  const place = await createCallFolder(home, of.tool, system);
  try {
    const held = await start(confinement, { ...of, known, home, folder: place.folder });
    return await converse(deps, { ...of, held, prompt }, request);
  } finally {
    await place.remove();
  }
};

const ready = async ({ home, confinement, find }: CallDeps, of: ToolModel) => {
  const { name, tool } = of;
  const fail = (why: string) => new ModelFailure('refused_connection', `${name} ${why}`);
  if (!confinement) throw fail('cannot run: no confinement works on this machine');
  const known = await find(tool);
  if (!known) throw fail(`cannot run: ${tool.name} is not installed`);
  if (known.version === null) throw fail(`cannot run: the version of ${tool.name} is unknown`);
  if (await isLoggedIn(home, tool)) return { confinement, known };
  const remedy = `adjutant models cli login ${tool.name}`;
  throw new ModelFailure('credentials', `${name} is not logged in. Run: ${remedy}`);
};

const start = async (
  confinement: Confinement,
  of: ToolModel & { known: InstalledTool; home: string; folder: string },
): Promise<ConfinedProcess> => {
  const { name, tool, model, known, home, folder } = of;
  const asking = { model, folder };
  try {
    return await confinement.hold({
      argv: [...known.command, ...tool.args(asking)],
      folder: home,
      env: { ...homeEnv(home), ...tool.env(asking) },
      readable: known.readable,
      network: true,
    });
  } catch (error) {
    if (!(error instanceof ConfinementFailed)) throw error;
    throw new ModelFailure('refused_connection', `${name} cannot run: ${error.message}`);
  }
};

/** All processes are killed when the tool ends, fails, times out, or the request is cancelled. */
const converse = async (
  { timeouts, clock, quotas }: CallDeps,
  { name, tool, price, held, prompt }: ToolModel & { held: ConfinedProcess; prompt: string },
  request: ModelRequest,
) => {
  const watch = watchTimeouts(clock, name, timeouts);
  const tally = createTally();
  const over = AbortSignal.any([request.signal, watch.signal]);
  over.addEventListener('abort', held.kill);
  if (over.aborted) held.kill();
  const quota = quotas.report.bind(quotas, tool.name);
  try {
    held.stdin.end(prompt);
    const traits = { beginsInThought: false, isShown: false };
    const toReader = { ...request, tools: [] };
    const reader = createReplyReader({ name, modelId: tool.name, request: toReader, traits });
    return await listen({ name, tool, held, watch, reader, tally, quota });
  } catch (error) {
    const failed = { tally, request, price: price ?? undefined, isStreamed: true };
    if (request.signal.aborted) throw withUsage(abortFailure(name, request.signal), failed);
    if (watch.signal.aborted) throw withUsage(watch.signal.reason, failed);
    const isRefused = error instanceof ModelFailure && error.kind === 'rate_limited';
    throw withUsage(error, failed, isRefused ? quotas.refused(tool.name) : undefined);
  } finally {
    watch.stop();
    over.removeEventListener('abort', held.kill);
    held.kill();
    await held.ended;
  }
};
